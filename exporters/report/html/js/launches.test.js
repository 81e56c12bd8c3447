import assert from "node:assert/strict";
import test from "node:test";
import { launch_pairs } from "./launches.js";
import { Detail } from "./detail.js";
import { sample_data, sample_detail } from "./testing/sample_detail.js";

test("a kernel leads to the call that launched it", () => {
  const kernel = { lane: 1, window: 0, index: 1 };
  assert.deepEqual(launch_pairs({ detail: sample_detail() }, kernel), [[{ lane: 0, window: 0, index: 2 }, kernel]]);
});

test("a call leads to all that it launched", () => {
  const data = sample_data(), call = { lane: 0, window: 0, index: 0 };
  data.windows[0].lanes[2].launch = [0];
  assert.deepEqual(launch_pairs({ detail: new Detail(data) }, call), [[call, { lane: 1, window: 0, index: 0 }], [call, { lane: 3, window: 0, index: 0 }]]);
});

test("a launch that was not captured, and a range, lead nowhere", () => {
  const data = sample_data();
  data.windows[0].lanes[1].launch = [-1, -1];
  assert.deepEqual(launch_pairs({ detail: new Detail(data) }, { lane: 1, window: 0, index: 0 }), []);
  assert.deepEqual(launch_pairs({ detail: sample_detail() }, { lane: 2, window: 0, index: 0 }), []);
});
