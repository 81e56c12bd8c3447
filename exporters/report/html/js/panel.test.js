import assert from "node:assert/strict";
import test from "node:test";
import { step_at } from "./panel.js";

test("the step at a moment is the innermost, which starts last", () => {
  const steps = { start: [0, 100, 120, 300], wall: [500, 100, 20, 50] };
  assert.equal(step_at(steps, 130), 2);
  assert.equal(step_at(steps, 140), 1);
  assert.equal(step_at(steps, 250), 0);
  assert.equal(step_at(steps, 500), -1);
});
