import assert from "node:assert/strict";
import test from "node:test";
import { Columns, kColumn, shortened, Stacks } from "./merged_columns.js";
import { drawn_context } from "./testing/drawn.js";

test("a column is as high as the share of it that is filled, in the colour of the largest", () => {
  const context = drawn_context(), columns = new Columns({ context }, 10, 20);
  columns.add(4, 0.3, "red", false);
  columns.add(4.5, 0.7, "blue", false);
  columns.finish();
  assert.equal(context.rects.length, 1);
  const [colour, left, top, width, height, alpha] = context.rects[0];
  assert.deepEqual([colour, left, width, alpha], ["blue", 4, kColumn, 1]);
  assert.ok(Math.abs(height - 10) < 1e-9);  // half of the column
  assert.ok(Math.abs(top - 20) < 1e-9);     // it stands on the foot
});

test("many small slices of one colour outweigh a larger one of another", () => {
  const context = drawn_context(), columns = new Columns({ context }, 0, 10);
  columns.add(0, 0.4, "blue", false);
  for (let i = 0; i < 3; ++i) columns.add(0.4 + i * 0.2, 0.2, "red", false);
  columns.finish();
  assert.deepEqual(context.rects.map(([colour]) => colour), ["red"]);
});

test("a slice over the edge of a column is shared between two", () => {
  const context = drawn_context(), columns = new Columns({ context }, 0, 10);
  columns.add(1.5, 1, "red", false);
  columns.finish();
  assert.deepEqual(context.rects.map(([, left, , , height]) => [left, height]), [[0, 2.5], [2, 2.5]]);
});

test("a bucket spreads its busy part over the room it has", () => {
  const context = drawn_context(), columns = new Columns({ context }, 0, 10);
  columns.add(1, 0.5, "red", false, 2);  // half a pixel of work in two pixels of time
  columns.finish();
  assert.deepEqual(context.rects.map(([, left, , , height]) => [left, height]), [[0, 1.25], [2, 1.25]]);
});

test("a column fades only where all of it does, and the least is still seen", () => {
  const context = drawn_context(), columns = new Columns({ context }, 0, 10);
  columns.add(0, 0.5, "red", true);
  columns.add(0.5, 0.5, "red", false);
  columns.add(2, 0.001, "red", true);
  columns.finish();
  assert.deepEqual(context.rects.map(([, , , , height, alpha]) => [height, alpha]), [[5, 1], [0.75, 0.2]]);
});

test("bins are stacked in their order, from the foot", () => {
  const context = drawn_context(), stacks = new Stacks({ context, palette: { bins: ["a", "b", "c"] }, width: 100 }, 0, 10);
  stacks.add(2, 0.5, 2);
  stacks.add(2.5, 1, 0);
  stacks.finish();
  assert.deepEqual(context.rects.map(([colour, left, top, , height]) => [colour, left, top, height]), [["a", 2, 5, 5], ["c", 2, 2.5, 2.5]]);
});

test("a share fills each column that it reaches, and none outside of the drawing", () => {
  const context = drawn_context(), stacks = new Stacks({ context, palette: { bins: ["a"] }, width: 4 }, 0, 10);
  stacks.add_share(-2, 12, 0, 0.5);
  stacks.finish();
  assert.deepEqual(context.rects.map(([, left, , , height]) => [left, height]), [[0, 5], [2, 5], [4, 5]]);
});

test("a name is cut to the room it has", () => {
  const context = drawn_context();
  assert.equal(shortened(context, "attention", 60), "attention");
  assert.equal(shortened(context, "attention", 44), "attent\u2026");
  assert.equal(shortened(context, "attention", 12), "");
});
