import assert from "node:assert/strict";
import test from "node:test";
import { Detail } from "./detail.js";
import { merged_count, range_sums, step_bins } from "./range_sums.js";
import { sample_data, sample_detail } from "./testing/sample_detail.js";

test("inside one window sums are exact: kernels that run at once are added, busy time is not", () => {
  const sums = range_sums(sample_detail(), 1000, 2000);
  assert.equal(sums.exact, true);
  assert.deepEqual([...sums.kernels], [[2, { ns: 300, calls: 1 }], [6, { ns: 100, calls: 1 }], [4, { ns: 200, calls: 1 }]]);
  assert.deepEqual([...sums.operators], [[7, { ns: 300, calls: 1 }], [8, { ns: 200, calls: 1 }]]);
  assert.equal(sums.busy, 400);  // 1100 to 1400 on both streams, and the copy
  assert.deepEqual(sums.bins, [400, 600]);
});

test("a slice that reaches over an edge counts with what lies inside", () => {
  const sums = range_sums(sample_detail(), 1300, 1650);
  assert.deepEqual(sums.kernels.get(2), { ns: 100, calls: 1 });
  assert.deepEqual(sums.kernels.get(6), { ns: 50, calls: 1 });
  assert.deepEqual(sums.bins, [100, 250]);
});

test("elsewhere sums are of whole buckets, and say which", () => {
  const sums = range_sums(sample_detail(), 600, 2100);
  assert.equal(sums.exact, false);
  assert.deepEqual([sums.from, sums.to], [500, 2500]);
  assert.equal(sums.busy, 0 + 400 + 100 + 500);
  assert.deepEqual([...sums.kernels], [[2, { ns: 300, calls: 1 }], [4, { ns: 700, calls: 3 }]]);
  assert.deepEqual([...sums.operators], [[7, { ns: 300, calls: 1 }]]);
  assert.deepEqual(sums.bins, [400, 1600]);
});

test("where kernels are summed in coarser buckets, all edges are theirs", () => {
  const data = sample_data();
  data.overview.kernels = { scale: 4, bucket: [0, 1], ns: [600, 500], calls: [3, 2], kernel: [0, 1] };
  const sums = range_sums(new Detail(data), 2100, 2200);
  assert.deepEqual([sums.from, sums.to], [2000, 4000]);
  assert.deepEqual([...sums.kernels], [[4, { ns: 500, calls: 2 }]]);
  assert.equal(sums.busy, 500);
});

test("a slice that stands for several makes sums by name unknown", () => {
  const data = sample_data();
  data.windows[0].lanes[1].merged = [3, 1];
  const sums = range_sums(new Detail(data), 1000, 2000);
  assert.equal(sums.merged, 3);
  assert.equal(sums.kernels.size, 0);
  assert.equal(sums.operators.size, 0);
  assert.equal(sums.busy, 400);
});

test("a slice stands for itself where the lane merges none", () => {
  assert.equal(merged_count({}, 5), 1);
  assert.equal(merged_count({ merged: [1, 4] }, 1), 4);
});

test("the bins of a step are its own, added over devices", () => {
  assert.deepEqual(step_bins(sample_detail(), 1), [400, 600]);
  const data = sample_data();
  data.steps.bins = [[[1, 2, 3]], [[10, 20, 30]]];
  assert.deepEqual(step_bins(new Detail(data), 2), [33]);
  delete data.steps.bins;
  assert.equal(step_bins(new Detail(data), 1), null);
});
