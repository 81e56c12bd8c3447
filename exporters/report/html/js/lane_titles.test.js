import assert from "node:assert/strict";
import test from "node:test";
import { shared_beginning, title_parts } from "./lane_titles.js";

const lane = (kind, title) => ({ kind, title });

test("what all threads' titles begin with says nothing", () => {
  const two = [lane("ranges", "python3 process 71 main thread 71: stages"), lane("api", "python3 process 72 main thread 72: CUDA calls"), lane("gpu", "GPU 0 stream 7: kernels")];
  assert.equal(shared_beginning(two), "python3 ");
  assert.equal(shared_beginning([lane("api", "python main thread 9: CUDA calls"), lane("api", "python thread 12: CUDA calls")]), "python ");
  assert.equal(shared_beginning([...two, lane("samples", "process 70 main thread 70: Python")]), "python3 ");
  assert.equal(shared_beginning([lane("api", "a thread 9: CUDA calls"), lane("api", "b thread 9: CUDA calls")]), "");
  assert.equal(shared_beginning([lane("gpu", "GPU 0 stream 7: kernels")]), "");
});

test("a title says first what the lane is, then whose; a GPU's as it stands", () => {
  assert.deepEqual(title_parts(lane("ranges"), "python3 process 71 main thread 71: ranges, level 2", "python3 "), ["ranges, level 2", "process 71 main thread 71"]);
  assert.deepEqual(title_parts(lane("bins"), "Budget of GPU 0 (NVIDIA H200) of process 71", ""), ["Budget", "GPU 0 of process 71"]);
  assert.deepEqual(title_parts(lane("gpu"), "GPU 0 stream 7: kernels", "python3 "), ["GPU 0 stream 7: kernels", ""]);
  assert.deepEqual(title_parts({ kind: "api", overlaid: true }, "the same in step 7", ""), ["the same in step 7", ""]);
});
