import assert from "node:assert/strict";
import test from "node:test";
import { axis_labels, moment_text, share_text, time_text } from "./time_text.js";

test("a duration has the unit in which it reads best", () => {
  assert.equal(time_text(0), "0 ns");
  assert.equal(time_text(812), "812 ns");
  assert.equal(time_text(999.4), "999 ns");
  assert.equal(time_text(7040), "7.04 \u00b5s");
  assert.equal(time_text(4249000), "4.249 ms");
  assert.equal(time_text(2.688e9), "2.688 s");
  assert.equal(time_text(-1500), "-1.50 \u00b5s");
});

test("a moment is in seconds, to the microsecond", () => {
  assert.equal(moment_text(5e9 + 1234), "5.000001 s");
});

test("a share: one digit below ten per cent, a bound below a tenth, a dash of nothing", () => {
  assert.equal(share_text(1, 3), "33 %");
  assert.equal(share_text(5, 100), "5.0 %");
  assert.equal(share_text(1, 100000), "< 0.1 %");
  assert.equal(share_text(0, 10), "0.0 %");
  assert.equal(share_text(1, 0), "\u2014");
});

test("labels of a coarse axis are whole times", () => {
  const { base, of } = axis_labels(0, 3e9, 5e8);
  assert.equal(base, "");
  assert.equal(of(1.5e9), "1.5 s");
});

test("labels of seconds are whole times wherever they are, at every tick", () => {
  const { base, of } = axis_labels(12.1e9, 14e9, 5e8);
  assert.equal(base, "");
  assert.deepEqual([12.5e9, 13e9, 13.5e9].map(of), ["12.5 s", "13.0 s", "13.5 s"]);
  assert.equal(axis_labels(5e9, 5.1e9, 2e7).of(5.04e9), "5.04 s");
});

test("labels of a fine axis count from a round moment at its left", () => {
  const { base, of } = axis_labels(12345600000, 12345900000, 1e5);
  assert.equal(base, "12.345 s");
  assert.equal(of(12345600000), "+600 \u00b5s");
});

test("labels have as many digits as the ticks need", () => {
  assert.equal(axis_labels(0, 2e6, 2e5).of(6e5), "0.6 ms");
  assert.equal(axis_labels(0, 900, 50).of(150), "150 ns");
});
