import assert from "node:assert/strict";
import test from "node:test";
import { Matches } from "./search.js";
import { sample_detail, sampled_detail } from "./testing/sample_detail.js";

test("a name matches where it has all words, the full name of a kernel, too", () => {
  const matches = new Matches(sample_detail(), ["gemm", "long"]);
  assert.equal(matches.has_slice(1, 0), true);
  assert.equal(matches.has_slice(1, 1), false);
  assert.equal(matches.has_slice(1, ~6), false);
});

test("slices of an operator match by its name", () => {
  const detail = sample_detail(), matches = new Matches(detail, ["linear"]);
  assert.equal(matches.has_operator(detail.window_lanes(0).get(1), 0), true);
  assert.equal(matches.has_operator(detail.window_lanes(0).get(1), 1), false);
  assert.equal(matches.has_operator(detail.window_lanes(0).get(0), 0), false);
});

test("matches come in the order of time", () => {
  const found = new Matches(sample_detail(), ["m"]).all();
  assert.deepEqual(found.map(({ lane, start }) => [lane, start]), [[2, 1000], [1, 1100], [3, 1200], [1, 1600]]);
});

test("kernels are counted over the whole capture, all else where slices are listed", () => {
  const found = new Matches(sample_detail(), ["m"]).by_name();
  assert.deepEqual(found.map(({ name, kind, ns, calls }) => [name, kind, ns, calls]), [[9, "range", 1000, 1], [4, "kernel", 700, 3], [2, "kernel", 400, 2], [6, "copy", 100, 1]]);
});

test("functions are found by name and file, anywhere in a stack, and counted in samples", () => {
  const detail = sampled_detail(), matches = new Matches(detail, ["put"]), lane = detail.lanes.findIndex(each => each.kind === "samples");
  assert.deepEqual(matches.by_name().map(({ kind, calls, ns }) => [kind, calls, ns]), [["function", 5, 500]]);
  assert.deepEqual(matches.all().map(({ window, index, start }) => [window, index, start]), [[-1, 1, 1050], [-1, 2, 1450], [-1, 3, 1750]]);  // audit is called by it
  assert.equal(matches.has(lane, detail.samples_of(lane), 2), true);
  assert.equal(matches.has(lane, detail.samples_of(lane), 0), false);
  const [put] = matches.by_name();
  assert.equal(matches.is(put, { lane, window: -1, index: 2 }), true);
  assert.equal(new Matches(detail, ["serve.py"]).by_name().length, 3);
});

test("operators are found with their sums over the whole capture, idle time by its bin", () => {
  const detail = sample_detail(), [found] = new Matches(detail, ["linear"]).by_name();
  assert.deepEqual([found.kind, found.ns, found.calls], ["operator", 300, 1]);
  assert.deepEqual(new Matches(detail, ["starved"]).by_name().map(({ kind, ns, calls }) => [kind, ns, calls]), [["idle time", 600, 1]]);
  assert.deepEqual(new Matches(detail, ["compute"]).by_name(), []);
});
