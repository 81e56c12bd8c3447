import assert from "node:assert/strict";
import test from "node:test";
import { Detail, first_ending_after } from "./detail.js";
import { sample_data, sample_detail } from "./testing/sample_detail.js";

test("starts of a window are unpacked from differences", () => {
  const lanes = sample_detail().window_lanes(0);
  assert.deepEqual([...lanes.get(0).start], [1050, 1150, 1250]);
  assert.deepEqual([...lanes.get(1).start], [1100, 1600]);
  assert.equal(lanes.get(3).position, 2);
});

test("bins of a window follow each other", () => {
  const [bins] = sample_detail().window_bins(0);
  assert.deepEqual([...bins.start], [1000, 1400]);
  assert.deepEqual([...bins.duration], [400, 600]);
});

test("ranges inside each other go into rows of their own", () => {
  const detail = sample_detail();
  assert.deepEqual(detail.window_lanes(0).get(2).rows.map(row => [...row]), [[0], [1]]);
  assert.equal(detail.most_rows(2), 2);
  assert.equal(detail.most_rows(1), 1);
});

test("windows: those that touch a range, and the one that holds all of it", () => {
  const detail = sample_detail();
  assert.deepEqual(detail.windows_in(1900, 5000), [0]);
  assert.deepEqual(detail.windows_in(2000, 5000), []);
  assert.equal(detail.window_around(1100, 1900), 0);
  assert.equal(detail.window_around(1100, 2100), -1);
});

test("names: a kernel has a readable one, a copy is stored as ~name", () => {
  const detail = sample_detail();
  assert.equal(detail.name_of(1, 0), "gemm");
  assert.equal(detail.name_of(1, ~6), "Memcpy DtoH");
  assert.equal(detail.name_of(0, 5), "cudaLaunchKernel");
  assert.equal(detail.kernel_of(0, 0), null);
  assert.equal(detail.short_name(3), "softmax");
});

test("buckets of a lane are unpacked, empty ones name nothing", () => {
  const buckets = sample_detail().lane_buckets.get(0);
  assert.deepEqual([...buckets.busy], [0, 0, 60, 40, 0, 0, 0, 0]);
  assert.deepEqual([...buckets.name], [-1, -1, 5, 5, -1, -1, -1, -1]);
});

test("without an overview, how busy devices are comes from the window", () => {
  const data = sample_data();
  data.overview = { bucket_ns: 0, count: 0, busy: [], bins: [], kernels: {}, operators: {}, lanes: [] };
  const { overview } = new Detail(data);
  assert.equal(overview.count, 512);
  assert.equal(overview.bucket_ns, 8);
  assert.equal(Array.from(overview.busy[0]).reduce((sum, ns) => sum + ns, 0), 300 + 200 + 100);
});

test("a slice that is not listed is an error, not a blank", () => {
  assert.throws(() => sample_detail().slices_of({ lane: 9, window: 0, index: 0 }), /lane 9 has no slices/);
});

test("the first slice that ends after a moment is found by halving", () => {
  const data = { start: [0, 10, 20, 30], duration: [5, 5, 5, 5] }, row = [0, 1, 2, 3];
  assert.equal(first_ending_after(data, row, -1), 0);
  assert.equal(first_ending_after(data, row, 15), 2);
  assert.equal(first_ending_after(data, row, 14), 1);
  assert.equal(first_ending_after(data, row, 99), 4);
});
