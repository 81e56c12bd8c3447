import assert from "node:assert/strict";
import test from "node:test";
import { count_text, plural } from "./count_text.js";

test("thousands are set apart, decimals are not", () => {
  assert.equal(count_text(7), "7");
  assert.equal(count_text(1234567), "1,234,567");
  assert.equal(count_text(1234.5678), "1,234.5678");
});

test("only one is singular", () => {
  assert.equal(plural(1, "slice"), "1 slice");
  assert.equal(plural(0, "slice"), "0 slices");
  assert.equal(plural(2000, "slice"), "2,000 slices");
});
