import assert from "node:assert/strict";
import test from "node:test";
import { column_sums, grouped, sum_text } from "./table_groups.js";
import { fake_element, fake_row } from "./testing/fake_rows.js";

test("rows are grouped by what they belong to; of several or none they have a group, too", () => {
  const rows = [["gemm"], ["attention"], ["gemm"], ["gemm|attention"], [""]].map(([layer]) => fake_row(["x"], { "data-layer": layer }));
  const groups = grouped(rows, "layer");
  assert.deepEqual([...groups.keys()], ["gemm", "attention", "several layers", "no layer"]);
  assert.deepEqual(groups.get("gemm"), [rows[0], rows[2]]);
});

test("only columns that can be added have sums", () => {
  const heads = [fake_element({}), fake_element({ "data-sum": "" }), fake_element({ class: "n" })];
  const rows = [fake_row(["a", [10, "10 ns"], [1, "1"]]), fake_row(["b", [5.5, "6 ns"], [2, "2"]]), fake_row(["c"])];
  assert.deepEqual(column_sums({ heads }, rows), [null, 15.5, null]);
});

test("a sum is written as the cells of its column are", () => {
  assert.equal(sum_text(0, [fake_row([[1, "1.00 \u00b5s"]])], 2500), "2.50 \u00b5s");
  assert.equal(sum_text(0, [fake_row(["\u2014"]), fake_row([[0.2, "20 %"]])], 0.45), "45 %");
  assert.equal(sum_text(0, [fake_row([[3, "3"]])], 12345.678), "12,345.68");
});
