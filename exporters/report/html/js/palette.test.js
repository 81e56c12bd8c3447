import assert from "node:assert/strict";
import test from "node:test";
import { Palette } from "./palette.js";
import { tell_theme_change } from "./theme.js";
import { sample_detail } from "./testing/sample_detail.js";

const bins = [{ title: "compute", colour: "b-compute" }, { title: "unknown", colour: "b-unknown" }];
const colours = () => name => name === "unknown" ? "" : "light " + name;

test("bins have the colour of their class, one without a colour that of the host", () => {
  assert.deepEqual(new Palette({ bins }, colours).bins, ["light compute", "light host"]);
});

test("a kernel has the colour of its kind, a copy that of copies", () => {
  const palette = new Palette({ bins }, colours), detail = sample_detail();
  assert.equal(palette.of_slice(detail, 1, 0), "light kind-gemm");
  assert.equal(palette.of_slice(detail, 1, ~6), "light kind-copy");
  detail.kernels[1].kind = "never heard of";
  assert.equal(palette.of_slice(detail, 1, 1), "light kind-other");
});

test("calls: those that wait, launch and copy stand out", () => {
  const palette = new Palette({ bins }, colours);
  assert.equal(palette.of_call("cudaStreamSynchronize"), "light sync");
  assert.equal(palette.of_call("cuLaunchKernelEx"), "light starved");
  assert.equal(palette.of_call("cudaMemcpyAsync"), "light copy");
  assert.equal(palette.of_call("cudaMalloc"), "light host");
});

test("a range that marks a stage has the colour of the stage with the longest name in it", () => {
  const palette = new Palette({ bins }, colours), names = ["decode", "decode_step"];
  const detail = { stages: [{}, {}], stage_name: index => names[index] };
  assert.equal(palette.of_range(detail, "LLM@decode_step"), "light s1");
  assert.equal(palette.of_range(detail, "LLM@decode"), "light s0");
  assert.equal(palette.of_range(detail, "tokenize"), "light host");
});

test("colours are read again when the theme changes", () => {
  let theme = "light";
  const palette = new Palette({ bins }, () => name => theme + " " + name), detail = sample_detail();
  assert.equal(palette.of_slice(detail, 1, 0), "light kind-gemm");
  theme = "dark";
  assert.equal(palette.of_slice(detail, 1, 0), "light kind-gemm");
  tell_theme_change();
  assert.equal(palette.of_slice(detail, 1, 0), "dark kind-gemm");
  assert.equal(palette.stage(7), "dark s1");
});
