import assert from "node:assert/strict";
import test from "node:test";
import { sorted_rows } from "./table_sort.js";
import { fake_element, fake_row } from "./testing/fake_rows.js";

const heads = () => [fake_element({}), fake_element({ class: "n" })];
const rows = [fake_row(["beta", [2, "2 ms"]]), fake_row(["Alpha", [10, "10 \u00b5s"]]), fake_row(["\u2014", "\u2014"]), fake_row(["beta", [2, "2 ms"]])];
const order = sorted => sorted.map(row => rows.indexOf(row));

test("numbers sort by their value, not by their text; what has none stays last both ways", () => {
  assert.deepEqual(order(sorted_rows(rows, heads(), 1, false)), [0, 3, 1, 2]);
  assert.deepEqual(order(sorted_rows(rows, heads(), 1, true)), [1, 0, 3, 2]);
});

test("text sorts without regard to case, equal rows keep their order", () => {
  assert.deepEqual(order(sorted_rows(rows, heads(), 0, false)), [1, 0, 3, 2]);
});

test("the head says how the table is sorted, and no other head does", () => {
  const both = heads();
  sorted_rows(rows, both, 1, true);
  assert.equal(both[1].getAttribute("aria-sort"), "descending");
  sorted_rows(rows, both, 0, false);
  assert.deepEqual(both.map(head => head.getAttribute("aria-sort")), ["ascending", null]);
  assert.deepEqual(order(sorted_rows(rows, both, -1, false)), [0, 1, 2, 3]);
  assert.deepEqual(both.map(head => head.getAttribute("aria-sort")), [null, null]);
});
