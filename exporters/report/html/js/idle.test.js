import assert from "node:assert/strict";
import test from "node:test";
import { Detail } from "./detail.js";
import { calls_around, idle_stretch, is_idle_pin, recurrence_of, watched_thread } from "./idle.js";
import { host_text, recurrence_text, say_idle } from "./idle_facts.js";
import { next_of_kind } from "./kind_steps.js";
import { kSampleBins, sampled_data, sampled_detail } from "./testing/sample_detail.js";

/** @param {Detail} detail */
const explorer_of = detail => ({ detail, pin: null, slice: pin => ({ start: detail.slices_of(pin).start[pin.index], duration: detail.slices_of(pin).duration[pin.index], what: detail.slices_of(pin).what[pin.index], data: detail.slices_of(pin) }) });
const idle_pin = detail => ({ lane: detail.budget_lane(0), window: 0, index: 1 });

test("a budget's idle parts are slices of a lane of their own, with the names of their bins", () => {
  const detail = sampled_detail(), pin = idle_pin(detail);
  assert.equal(detail.name_of(pin.lane, detail.slices_of(pin).what[pin.index]), "launch-starved");
  assert.equal(is_idle_pin(detail, pin), true);
  assert.equal(is_idle_pin(detail, { ...pin, index: 0 }), false);
});

test("an idle stretch ends at the step, and knows the work around it", () => {
  const detail = sampled_detail(), { from, to, step, at_edge, before, after } = idle_stretch(detail, idle_pin(detail));
  assert.deepEqual([from, to, step, at_edge], [1400, 2000, 1, true]);
  assert.deepEqual(before, { lane: 1, window: 0, index: 0 });
  assert.equal(after, null);  // the window lists nothing after the step
});

test("the parts of a gap are one stretch", () => {
  const data = sampled_data();
  data.windows[0].bins[0] = { device: 0, d: [0, 0, 0, 0], dur: [400, 100, 100, 400], bin: [0, 1, 2, 0] };
  const detail = new Detail(data, [...kSampleBins, { key: "launch_latency_ns", title: "launch latency", colour: "b-latency" }]);
  const { from, to } = idle_stretch(detail, { lane: detail.budget_lane(0), window: 0, index: 2 });
  assert.deepEqual([from, to], [1400, 1600]);
});

test("the call that ends a wait and the one before it are of one thread, which is the one that is watched", () => {
  const detail = sampled_detail(), stretch = { ...idle_stretch(detail, idle_pin(detail)), after: { lane: 1, window: 0, index: 1 } };
  const { launch, before } = calls_around(explorer_of(detail), stretch);
  assert.deepEqual([launch, before], [{ lane: 0, window: 0, index: 2 }, { lane: 0, window: 0, index: 1 }]);
  assert.equal(watched_thread(detail, idle_pin(detail), launch), 0);
  assert.equal(watched_thread(detail, idle_pin(detail), null), 0);  // of the process, the one that makes calls
});

test("a gap between the same work that is about as long comes again; all else of the stage is one sum", () => {
  const detail = sampled_detail(), stretch = idle_stretch(detail, idle_pin(detail));
  const gemm = { lane: 1, window: 0, index: 0 };
  const found = recurrence_of(detail, { ...stretch, before: gemm, after: null });
  assert.equal(found.row, 0);
  assert.equal(recurrence_text(detail, found), "600 ns a window, in 2 of 2 windows of decode_step: 1.20 \u00b5s in all, 48 % of the stage");
  assert.equal(host_text(detail, found), "audit (serve.py:10): 6 of 8 samples");
  const other = recurrence_of(detail, { ...stretch, at_edge: false, before: gemm, after: null });
  assert.equal(other.row, -1);
  assert.equal(recurrence_text(detail, other), "not among the recurring gaps of decode_step. All that are not: 9 gaps, 50 ns a window, 100 ns in all, 4.0 % of the stage");
  assert.equal(recurrence_of(detail, { ...stretch, from: 1400, to: 1410, before: gemm, after: null }).row, -1);  // far shorter
  assert.equal(recurrence_of(detail, { ...stretch, step: -1 }), null);
});

test("the panel says what the thread ran in an idle slice", () => {
  const detail = sampled_detail(), facts = new Map();
  globalThis.document = /** @type {any} */ ({ createElement: () => ({ append: () => {}, setAttribute: () => {}, addEventListener: () => {} }) });
  say_idle(explorer_of(detail), idle_pin(detail), (name, text) => text && facts.set(name, text), () => {});
  delete globalThis.document;
  assert.equal(facts.get("Bin"), "launch-starved: GPU idle");
  assert.equal(facts.get("Stack samples"), "audit (serve.py:10): 2 of 4 samples; audit (serve.py:11): 1 of 4 samples; put (serve.py:22): 1 of 4 samples");
});

test("next of its kind: the same name, of idle time the same bin, and none after the last", () => {
  const detail = sampled_detail(), explorer = explorer_of(detail);
  assert.deepEqual(next_of_kind({ ...explorer, pin: { lane: 0, window: 0, index: 0 } }, 1), { lane: 0, window: 0, index: 1 });
  assert.equal(next_of_kind({ ...explorer, pin: idle_pin(detail) }, 1), null);
  const samples = detail.lanes.findIndex(lane => lane.kind === "samples");
  assert.deepEqual(next_of_kind({ ...explorer, pin: { lane: samples, window: -1, index: 1 } }, 1), { lane: samples, window: -1, index: 3 });
  assert.deepEqual(next_of_kind({ ...explorer, pin: { lane: samples, window: -1, index: 4 } }, -1), { lane: samples, window: -1, index: 0 });
});
