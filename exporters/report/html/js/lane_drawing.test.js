import assert from "node:assert/strict";
import test from "node:test";
import { bins_text, bucket_text, first_after, gaps_between, LaneDrawing } from "./lane_drawing.js";
import { lane_entries, lane_layout } from "./lane_layout.js";
import { Palette } from "./palette.js";
import { drawn_context } from "./testing/drawn.js";
import { Detail } from "./detail.js";
import { kSampleBins, sample_data, sample_detail, sampled_detail } from "./testing/sample_detail.js";

test("gaps are what the windows leave out of a range, in any order and overlapping", () => {
  assert.deepEqual(gaps_between([{ start: 50, end: 70 }, { start: 10, end: 20 }, { start: 60, end: 80 }], 0, 100), [[0, 10], [20, 50], [80, 100]]);
  assert.deepEqual(gaps_between([], 5, 9), [[5, 9]]);
  assert.deepEqual(gaps_between([{ start: 0, end: 100 }], 5, 9), []);
});

test("the first interval that ends after a moment", () => {
  const data = { start: [0, 10, 20], duration: [10, 10, 10] };
  assert.deepEqual([-5, 0, 9, 10, 29, 30].map(moment => first_after(data, moment)), [0, 0, 0, 1, 2, 3]);
});

test("a bucket says how much is in it; of ranges the name says all", () => {
  const detail = sample_detail(), buckets = detail.lane_buckets.get(0);
  assert.equal(bucket_text(detail, { kind: "api" }, buckets, 2), "3 slices, 12 % busy, most: cudaLaunchKernel");
  assert.equal(bucket_text(detail, { kind: "ranges" }, buckets, 2), "cudaLaunchKernel");
});

test("a bucket of the GPU says and shows the kind with most of its time, a budget's its bins", () => {
  const data = sample_data();
  data.kinds = ["gemm", "attention"];
  data.overview.lanes.push({ lane: 1, bucket: [2], busy: [400], slices: [9], name: [1], kind: [1] });
  const detail = new Detail(data, kSampleBins);
  assert.equal(bucket_text(detail, { kind: "gpu" }, detail.lane_buckets.get(1), 2), "9 slices, 80 % busy, mostly attention, longest: gemm");
  assert.equal(bins_text(detail, 0, 0), "80 % launch-starved, 20 % GPU compute");
  const { drawing, context, item } = drawn(0, 4000, 4000, detail);
  drawing.buckets(item("GPU 0, stream 7"), 1000, 1500);
  assert.deepEqual(context.rects.map(([colour]) => colour), ["kind-attention"]);
});

test("samples are drawn over the whole capture, also where no window lists slices", () => {
  const { drawing, context, item } = drawn(0, 4000, 4000, sampled_detail());
  drawing.lane(item("thread: Python"));
  assert.deepEqual(context.rects.map(([, left, , width]) => [left, width]), [[950, 99.5], [1050, 99.5], [1450, 299.5], [1750, 99.5], [3000, 99.5]]);
  assert.deepEqual(context.texts, ["main", "put", "audit", "put", "main"]);
});

test("a folded lane is one thin row", () => {
  const detail = sample_detail(), { drawing, context } = drawn(1000, 2000, 1000), entries = lane_entries(detail).map(entry => ({ ...entry, folded: true }));
  const { items } = lane_layout(detail, entries, false, false);
  drawing.lane(items[0]);
  assert.ok(items.every(item => item.rows === 1 && item.height === 15));
  assert.equal(new Set(context.rects.map(([, , top]) => top)).size, 1);
});

function drawn(from, to, width, detail = sample_detail()) {
  const context = drawn_context(), palette = new Palette({ bins: [{ colour: "b-a" }, { colour: "b-b" }] }, () => name => name);
  const drawing = new LaneDrawing(context, detail, palette, { from, to }, width, 0, null, ["A", "B"]);
  const { items } = lane_layout(detail, lane_entries(detail), false, false);
  return { drawing, context, item: title => items.find(item => item.title === title) };
}

test("inside a window each slice is drawn where it lies, with its name where there is room", () => {
  const { drawing, context, item } = drawn(1000, 2000, 1000), stream = item("GPU 0, stream 7");
  drawing.lane(stream);
  assert.deepEqual(context.rects.map(([colour, left, top, width]) => [colour, left, top, width]),
                   [["kind-gemm", 100, stream.top, 299.5], ["kind-copy", 600, stream.top, 99.5]]);
  assert.deepEqual(context.texts, ["gemm", "Memcpy DtoH"]);
});

test("outside of the windows a bucket is as high as its share", () => {
  const { drawing, context, item } = drawn(0, 1000, 100), budget = item("Budget of GPU 0");
  drawing.lane(budget);
  const high = context.rects.filter(([colour]) => colour === "a").reduce((sum, [, , , , height]) => sum + height, 0);
  assert.ok(Math.abs(high / 25 - 0.2 * (budget.row_height - 1)) < 1e-6);  // 25 columns of the first bucket, of which 100 of 500 ns
});
