import assert from "node:assert/strict";
import test from "node:test";
import { LaneArrangement } from "./lane_arrangement.js";

const made = () => new LaneArrangement([3, 0, 1, 2].map(lane => ({ lane, kind: "gpu", title: "lane " + lane, device: -1 })));
const lanes = arrangement => arrangement.arranged().map(({ lane, folded, pinned }) => lane + (folded ? "f" : "") + (pinned ? "p" : ""));

test("pinned lanes come first, folded ones stay where they are", () => {
  const arrangement = made();
  assert.deepEqual(arrangement.written(), { fold: null, top: null, order: null });
  arrangement.pin(2);
  arrangement.fold(0);
  assert.deepEqual(lanes(arrangement), ["2p", "3", "0f", "1"]);
  assert.deepEqual(arrangement.written(), { fold: "0", top: "2", order: null });
  arrangement.pin(2);
  arrangement.fold(0);
  assert.deepEqual(lanes(arrangement), ["3", "0", "1", "2"]);
});

test("a lane moves before or behind another, and is pinned where that one is", () => {
  const arrangement = made();
  arrangement.move(2, 3, false);
  assert.deepEqual(lanes(arrangement), ["2", "3", "0", "1"]);
  arrangement.move(2, 0, true);
  assert.deepEqual(lanes(arrangement), ["3", "0", "2", "1"]);
  arrangement.pin(1);
  arrangement.move(3, 1, true);
  assert.deepEqual(lanes(arrangement), ["1p", "3p", "0", "2"]);
  arrangement.move(1, 2, true);
  assert.deepEqual(lanes(arrangement), ["3p", "0", "2", "1"]);
});

test("what the address says is read back; lanes that it does not name stay, those that are none are passed over", () => {
  const arrangement = made(), other = made();
  arrangement.fold(3);
  arrangement.pin(1);
  arrangement.move(2, 0, false);
  const { fold, top, order } = arrangement.written();
  other.read(new URLSearchParams({ fold, top, order }));
  assert.deepEqual(lanes(other), lanes(arrangement));
  other.read(new URLSearchParams("fold=9.x.3&top=77&order=2"));
  assert.deepEqual(lanes(other), ["2", "3f", "0", "1"]);
  other.read(null);
  assert.deepEqual(lanes(other), lanes(made()));
});
