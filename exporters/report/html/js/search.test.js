import assert from "node:assert/strict";
import test from "node:test";
import { Matches } from "./search.js";
import { sample_detail } from "./testing/sample_detail.js";

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
