import assert from "node:assert/strict";
import test from "node:test";
import { bin_differences, kernel_differences, largest_differences, signed_time } from "./step_difference.js";
import { Detail } from "./detail.js";
import { sample_data, sample_detail } from "./testing/sample_detail.js";

const bins = [{ title: "compute", colour: "b-compute" }, { title: "host", colour: "b-host" }];

test("the largest differences come first, of either sign, and equal times are left out", () => {
  const names = [[0, "a"], [1, "b"], [2, "c"], [3, "d"]], before = [10, 5, 7, undefined], after = [10, 50, 1, 3];
  assert.deepEqual(largest_differences(names, key => before[key], key => after[key]), [["b", 45], ["c", -6], ["d", 3]]);
});

test("five at most", () => {
  const names = Array.from({ length: 9 }, (_, i) => [i, "name " + i]);
  const found = largest_differences(names, () => 0, key => key + 1);
  assert.deepEqual(found.map(([, ns]) => ns), [9, 8, 7, 6, 5]);
});

test("a difference has its sign", () => {
  assert.equal(signed_time(1500), "+1.50 \u00b5s");
  assert.equal(signed_time(-20), "\u221220 ns");
});

test("budgets of two steps differ by bin", () => {
  assert.deepEqual(bin_differences({ detail: sample_detail(), step: 1, other_step: 2, page_data: { bins } }), [["compute", 500]]);
});

test("kernels of two steps differ only where both are listed slice by slice", () => {
  const data = sample_data();
  assert.deepEqual(kernel_differences({ detail: new Detail(data), step: 1, other_step: 2 }), []);
  data.windows.push({ start: 2000, end: 3500, lanes: [{ lane: 1, d: [0], dur: [1000], kernel: [0], launch: [-1] }], bins: [] });
  assert.deepEqual(kernel_differences({ detail: new Detail(data), step: 1, other_step: 2 }), [["gemm", 700], ["softmax", -200], ["Memcpy DtoH", -100]]);
});
