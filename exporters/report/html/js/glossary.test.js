import assert from "node:assert/strict";
import test from "node:test";
import { is_term_in_text, term_pattern } from "./glossary.js";

test("a term is found as a whole word, the longest of those that fit", () => {
  const pattern = term_pattern(["MFU", "launch-starved", "GPU busy", "GPU busy time"]);
  assert.equal(pattern.exec("the GPU busy time of a step")[1], "GPU busy time");
  assert.equal(pattern.exec("It is LAUNCH-STARVED.")[1], "LAUNCH-STARVED");
  assert.equal(pattern.exec("XMFU and MFU-like"), null);
});

test("signs in a term stand for themselves", () => {
  assert.equal(term_pattern(["p(99) %"]).exec("its p(99) % is high")[1], "p(99) %");
  assert.equal(term_pattern(["a.b"]).exec("aXb"), null);
});

test("a plain word is not explained in a sentence", () => {
  assert.deepEqual(["total", "Time", "MFU", "decode_step", "GPU busy", "p99"].map(is_term_in_text), [false, false, true, true, true, true]);
});
