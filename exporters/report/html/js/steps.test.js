import assert from "node:assert/strict";
import test from "node:test";
import { busiest_stage, measured_steps, median_step, outlier_steps, slowest_step, step_at, step_title } from "./steps.js";
import { sample_detail } from "./testing/sample_detail.js";

const with_walls = wall => ({ steps: { wall, stage: wall.map(() => 0), warmup: wall.map(() => 0) } });

test("warm-up is not measured, unless there is nothing else", () => {
  const detail = sample_detail();
  assert.deepEqual(measured_steps(detail, 0), [1, 2]);
  detail.steps.warmup = [1, 1, 1];
  assert.deepEqual(measured_steps(detail, 0), [0, 1, 2]);
});

test("of an even number the median is the lower of the middle two", () => {
  assert.equal(median_step(with_walls([40, 10, 30, 20]), 0), 3);
  assert.equal(median_step(with_walls([5, 1, 3]), 0), 2);
  assert.equal(slowest_step(with_walls([5, 9, 3]), 0), 1);
});

test("outliers lie beyond the far fence, the slowest first; of a few steps there are none", () => {
  assert.deepEqual(outlier_steps(with_walls([10, 11, 12, 13, 10, 11, 12, 99, 60]), 0), [7, 8]);
  assert.deepEqual(outlier_steps(with_walls([10, 10, 10, 999]), 0), []);
});

test("the stage to look at first has most steps among the longest", () => {
  const stage = [0, 1, 1, 1, 2, 2, 2, 2], wall = [400, 100, 100, 100, 1, 1, 1, 1];
  assert.equal(busiest_stage({ stages: [{}, {}, {}], steps: { stage, wall, warmup: stage.map(() => 0) } }), 1);
});

test("a step's title counts from one and says what is warm-up", () => {
  const detail = sample_detail();
  assert.equal(step_title(detail, 0), "decode_step 1 of iteration 1 (warm-up)");
  assert.equal(step_title(detail, 2), "decode_step 3");
});

test("the step at a moment is the innermost, which starts last", () => {
  const steps = { start: [0, 100, 120, 300], wall: [500, 100, 20, 50] };
  assert.equal(step_at(steps, 130), 2);
  assert.equal(step_at(steps, 140), 1);
  assert.equal(step_at(steps, 250), 0);
  assert.equal(step_at(steps, 500), -1);
});
