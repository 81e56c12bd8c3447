import assert from "node:assert/strict";
import test from "node:test";
import { kept_state, range_of, state_of, timeline_part, written_range } from "./address.js";

const kept = (before, after, link_followed) => {
  const state = kept_state(before, after, link_followed);
  return state && Object.fromEntries(state);
};

test("an address has state where it has an equals sign, else it is an anchor", () => {
  assert.equal(state_of("#finding-2"), null);
  assert.equal(state_of(""), null);
  assert.equal(state_of("#v=1,2&q=gemm+x").get("q"), "gemm x");
});

test("the part of the timeline changes only with what the timeline shows", () => {
  assert.equal(timeline_part("#v=1,2&kernels.sort=time"), timeline_part("#v=1,2&q=gemm"));
  assert.notEqual(timeline_part("#v=1,2"), timeline_part("#v=1,3"));
  assert.equal(timeline_part("#findings"), "");
});

test("times are those of the capture in the address, and start at zero inside", () => {
  assert.deepEqual(range_of("5000,6500", 5000), { from: 0, to: 1500 });
  assert.equal(written_range({ from: 0.4, to: 1499.6 }, 5000), "5000,6500");
  assert.equal(written_range(null, 5000), null);
});

test("a range that is damaged or empty is none", () => {
  for (const text of [null, "", "5000", "5000,x", "6500,5000", "7,7"]) assert.equal(range_of(text, 0), null);
});

test("an anchor keeps tables and timeline as they are", () => {
  assert.deepEqual(kept("#v=1,2&kernels.sort=time&at=old", "#finding-2", true), { v: "1,2", "kernels.sort": "time", at: "finding-2" });
});

test("a link to a moment keeps the tables, but not the view that was", () => {
  assert.deepEqual(kept("#v=1,2&kernels.sort=time", "#t=5,6", true), { t: "5,6", "kernels.sort": "time" });
  assert.deepEqual(kept("#kernels.sort=time", "#kernels.sort=calls", true), { "kernels.sort": "calls" });
});

test("an address that was typed, or one after no state, is taken as it is", () => {
  assert.equal(kept("#v=1,2&kernels.sort=time", "#t=5,6", false), null);
  assert.equal(kept("#findings", "#budget", true), null);
  assert.equal(kept("#v=1,2", "", true), null);
});
