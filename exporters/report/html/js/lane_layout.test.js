import assert from "node:assert/strict";
import test from "node:test";
import { busiest_entries, device_of, has_anything, kTitleHeight, lane_entries, lane_layout } from "./lane_layout.js";
import { Detail } from "./detail.js";
import { sample_data, sample_detail, sampled_detail } from "./testing/sample_detail.js";

test("a stream belongs to the GPU as its process uses it", () => {
  const lanes = [{ kind: "gpu", device: 1, pid: 7 }, { kind: "gpu", device: 1 }, { kind: "gpu", device: 2 }];
  const devices = [{ device: 1, pid: 6 }, { device: 1, pid: 7 }];
  assert.equal(device_of({ lanes, devices }, 0), 1);
  assert.equal(device_of({ lanes, devices }, 1), 0);
  assert.equal(device_of({ lanes, devices }, 2), -1);
});

test("ranges come first, then calls, then each device's budget and streams", () => {
  const entries = lane_entries(sample_detail());
  assert.deepEqual(entries.map(entry => entry.title), ["thread: ranges", "thread: CUDA calls", "Budget of GPU 0", "GPU 0, stream 7", "GPU 0, stream 8"]);
  assert.deepEqual(entries.map(entry => entry.lane), [2, 0, 4, 1, 3]);
  assert.equal(entries[2].device, 0);
});

test("a device without a budget has no lane for it, and streams of unknown devices come last", () => {
  const data = sample_data();
  data.overview.bins = [];
  data.windows[0].bins = [];
  data.lanes[1].device = 5;
  assert.deepEqual(lane_entries(new Detail(data)).map(entry => entry.lane), [2, 0, 3, 1]);
});

test("the emptiest lanes give way; stages, collectives of ranks, streams and budgets stay", () => {
  const detail = { lane_buckets: new Map([[0, { busy: [5, 5] }], [1, { busy: [1] }]]) };
  const entry = (lane, kind, stages, bands) => ({ lane, kind, stages, bands });
  const entries = [entry(0, "api"), entry(1, "api"), entry(2, "gpu"), entry(3, "ranges", true), entry(-1, "bins"), entry(4, "ranges")];
  assert.deepEqual(busiest_entries(detail, entries, 10), entries);
  assert.deepEqual(busiest_entries(detail, entries, 4).map(each => each.lane), [0, 2, 3, -1]);
  assert.deepEqual(busiest_entries(detail, entries, 1).map(each => each.lane), [2, 3, -1]);
  assert.deepEqual(busiest_entries(detail, [entry(5, "ranges", false, true), ...entries], 1).map(each => each.lane), [5, 2, 3, -1]);
});

test("lanes stand below each other; one with nested ranges has a row for each", () => {
  const detail = sample_detail(), { items, height } = lane_layout(detail, lane_entries(detail), false, false);
  assert.deepEqual(items.map(item => item.rows), [2, 1, 1, 1, 1]);
  assert.equal(items[0].top, 4);
  assert.equal(items[0].height, 36);
  for (let i = 1; i < items.length; ++i) assert.equal(items[i].top, items[i - 1].top + items[i - 1].height + 5);
  assert.equal(height, items[4].top + items[4].height + 5);
});

test("on a narrow page titles have room above, and an overlaid step repeats each lane", () => {
  const detail = sample_detail(), entries = lane_entries(detail).slice(0, 1);
  assert.equal(lane_layout(detail, entries, true, false).items[0].top, 4 + kTitleHeight);
  const { items } = lane_layout(detail, entries, false, true);
  assert.deepEqual(items.map(item => [item.top, item.overlaid]), [[4, false], [41, true]]);
});

test("a lane is empty where neither its slices nor its buckets have anything", () => {
  const detail = sample_detail(), entries = new Map(lane_entries(detail).map(entry => [entry.title, entry]));
  const empty = (title, from, to) => !has_anything(detail, entries.get(title), from, to);
  assert.equal(empty("GPU 0, stream 8", 1000, 2000), false);
  assert.equal(empty("GPU 0, stream 8", 1500, 2000), true);  // listed, and nothing there
  assert.equal(empty("thread: CUDA calls", 1200, 3000), false);  // in a bucket
  assert.equal(empty("thread: CUDA calls", 2500, 4000), true);
  assert.equal(empty("Budget of GPU 0", 2500, 4000), false);
});

test("a thread that is sampled nearby keeps its lane: samples are rare", () => {
  const detail = sampled_detail(), entry = lane_entries(detail).find(each => each.kind === "samples");
  detail.sample_period_ns = 10;
  assert.equal(has_anything(detail, entry, 2100, 2200), false);
  assert.equal(has_anything(detail, entry, 2000, 2900), true);  // 100 ns before the next: ten periods
});
