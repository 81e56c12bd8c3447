import assert from "node:assert/strict";
import test from "node:test";
import { Detail } from "./detail.js";
import { kSampleBins, sampled_data, sampled_detail } from "./testing/sample_detail.js";

test("neighbouring samples of one function are one slice, until the next sample or for a period", () => {
  const slices = sampled_detail().stacks.slices(0), list = [...slices.start].map((start, i) => [start, slices.duration[i], slices.what[i], slices.count[i]]);
  // main, put for a period (the next sample is too far), audit at two lines, put, and main after a long time
  assert.deepEqual(list, [[950, 100, 0, 1], [1050, 100, 1, 1], [1450, 300, 2, 3], [1750, 100, 1, 1], [3000, 100, 0, 1]]);
});

test("lines of one function are one function, a frame says its line", () => {
  const { stacks } = sampled_detail();
  assert.equal(stacks.functions.length, 3);
  assert.equal(stacks.frame_text(3), "audit (serve.py:11)");
  assert.equal(stacks.function_text(2), "audit (serve.py)");
  assert.deepEqual(stacks.lines_of(2), ["audit (serve.py:10)", "put (serve.py:22)", "main (serve.py:3)"]);
});

test("what a stretch of time was spent on: its samples by line, most first", () => {
  const { stacks } = sampled_detail();
  assert.deepEqual(stacks.lines_in(0, [{ from: 1400, to: 1800 }]), { samples: 4, lines: [[2, 2], [3, 1], [1, 1]] });
  assert.deepEqual(stacks.lines_in(0, [{ from: 1451, to: 1451 }, { from: 2000, to: 2900 }]), { samples: 0, lines: [] });
});

test("a function counts in each sample that has it anywhere in its stack", () => {
  assert.deepEqual(sampled_detail().stacks.by_function().map(({ samples }) => samples), [7, 5, 3]);
});

test("samples that were thinned stand for longer, and say so", () => {
  const data = sampled_data();
  data.samples.every = 20;
  const { stacks } = new Detail(data, kSampleBins), { start, duration } = stacks.slices(0);
  assert.equal(start[3] + duration[3], 3000);
  assert.equal(stacks.thinned_text, "one of 20 of 7 samples");
});
