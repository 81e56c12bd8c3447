import assert from "node:assert/strict";
import test from "node:test";
import { linear_scale, surface_note } from "./surface_none.js";

test("a scale maps its domain to its range", () => {
  const scale = linear_scale([100, 200], [0, 50]);
  assert.equal(scale(150), 25);
  assert.equal(linear_scale([0, 10], [100, 0])(10), 0);
  assert.equal(linear_scale([5, 5], [0, 50])(5), 0);
});

test("ticks are 1, 2 or 5 times a power of ten apart, and inside", () => {
  assert.deepEqual(linear_scale([0, 100], [0, 1]).ticks(5), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(linear_scale([130, 290], [0, 1]).ticks(4), [150, 200, 250]);
  assert.deepEqual(linear_scale([0, 1000], [0, 1]).ticks(10).length, 11);
});

test("a page without d3 says so", () => {
  assert.match(surface_note, /no drag, pinch or brush/);
});
