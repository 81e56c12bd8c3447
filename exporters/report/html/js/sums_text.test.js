import assert from "node:assert/strict";
import test from "node:test";
import { range_sums } from "./range_sums.js";
import { budget_parts, sums_text, whole_text } from "./sums_text.js";
import { kSampleBins, sample_detail } from "./testing/sample_detail.js";

test("the parts of the bar are the whole range, and those that are busy are what the sentence says", () => {
  const detail = sample_detail(), sums = range_sums(detail, 1000, 2000);
  sums.to = 2500;
  sums.whole = 1500;
  sums.busy = 460;
  const parts = budget_parts(sums, kSampleBins, bin => detail.is_idle(bin));
  assert.deepEqual(parts.map(({ title, ns }) => [title, ns]), [["launch-starved", 600], ["GPU compute", 400], ["GPU busy outside of the stages", 60], ["GPU idle outside of the stages", 440]]);
  assert.equal(parts.reduce((sum, { ns }) => sum + ns, 0), sums.whole);
});

test("a range without a stage has no parts", () => {
  const sums = range_sums(sample_detail(), 1000, 2000);
  assert.deepEqual(budget_parts({ ...sums, bins: [] }, kSampleBins, () => false), []);
});

test("shares have one denominator, which is said", () => {
  const sums = range_sums(sample_detail(), 1000, 2000);
  assert.equal(whole_text(sums), "Shares are of the range, 1.00 \u00b5s.");
  assert.equal(whole_text({ ...sums, whole: 2000 }), "Shares are of 2.00 \u00b5s: the range, once for each of 2 GPUs.");
});

test("the sums as text", () => {
  const detail = sample_detail();
  assert.equal(sums_text(range_sums(detail, 1000, 2000), detail, "Selected: 1.00 \u00b5s", "GPU busy 400 ns, 40 % of the range."), [
    "Selected: 1.00 \u00b5s", "0.000006 s to 0.000007 s. Shares are of the range, 1.00 \u00b5s.", "GPU busy 400 ns, 40 % of the range.",
    "Budget", "  600 ns  60 %  launch-starved", "  400 ns  40 %  GPU compute",
    "Kernels and copies", "  300 ns  30 %  1 \u00d7  gemm", "  200 ns  20 %  1 \u00d7  softmax", "  100 ns  10 %  1 \u00d7  Memcpy DtoH",
    "Operators", "  300 ns  30 %  1 \u00d7  linear", "  200 ns  20 %  1 \u00d7  attention"].join("\n"));
});
