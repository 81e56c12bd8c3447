// A small capture for the unit tests: one GPU with two streams, a thread with ranges and calls, three decode steps of which the first is
// warm-up. Times are nanoseconds. The first window lists the second step (1000 to 2000) slice by slice.
import { Detail } from "../detail.js";

export const kSampleBins = [{ key: "gpu_compute_ns", title: "GPU compute", colour: "b-compute" }, { key: "launch_starved_ns", title: "launch-starved", text: "GPU idle", colour: "b-starved" }];

/** @returns {DetailData} */
export function sample_data() {
  return {
    format: 1, start_ns: 5000, end_ns: 9000, sample_period_ns: 100,
    names: ["decode_step", "gemm_long_name", "gemm", "softmax_long_name", "softmax", "cudaLaunchKernel", "Memcpy DtoH", "linear", "attention", "LLM@decode_step"],
    sites: [], operators: [7, 8], layers: [],
    kernels: [{ name: 1, short: 2, kind: "gemm", registers: 32, shared_bytes: 0 }, { name: 3, short: 4, kind: "attention", registers: 16, shared_bytes: 0 }],
    lanes: [
      { kind: "api", title: "thread: CUDA calls", pid: 1, tid: 1 }, { kind: "gpu", title: "GPU 0, stream 7", pid: 1, device: 0, stream: 7 },
      { kind: "ranges", title: "thread: ranges", pid: 1, tid: 1, stages: true }, { kind: "gpu", title: "GPU 0, stream 8", pid: 1, device: 0, stream: 8 }],
    devices: [{ device: 0, pid: 1, title: "GPU 0" }],
    stages: [{ name: 0 }],
    steps: {
      stage: [0, 0, 0], start: [0, 1000, 2000], wall: [900, 1000, 1500], iteration: [0, 0, -1], position: [0, 1, 2], warmup: [1, 0, 0], window: [-1, 0, -1],
      bins: [[[100, 400, 900], [800, 600, 600]]], in_all: 3,
    },
    overview: {
      bucket_ns: 500, count: 8, busy: [[100, 0, 400, 100, 500, 0, 0, 0]], bins: [[[100, 0, 400, 0, 0, 0, 0, 0], [400, 500, 100, 500, 500, 500, 500, 500]]],
      kernels: { bucket: [0, 2, 0, 2], ns: [100, 300, 200, 500], calls: [1, 1, 1, 2], kernel: [0, 0, 1, 1] },
      operators: { bucket: [2], ns: [300], calls: [1], operator: [0] },
      lanes: [{ lane: 0, bucket: [2, 1], busy: [60, 40], slices: [3, 1], name: [5, 5] }],
    },
    windows: [{
      start: 1000, end: 2000,
      lanes: [
        { lane: 0, d: [50, 100, 100], dur: [20, 20, 20], name: [5, 5, 5] },
        { lane: 1, d: [100, 500], dur: [300, 100], kernel: [0, ~6], launch: [0, 2], operator: [0, -1] },
        { lane: 3, d: [200], dur: [200], kernel: [1], launch: [1], operator: [1] },
        { lane: 2, d: [0, 10], dur: [1000, 400], name: [9, 0] }],
      bins: [{ device: 0, d: [0, 0], dur: [400, 600], bin: [0, 1] }],
    }],
  };
}

export function sample_detail() {
  return new Detail(sample_data(), kSampleBins);
}

// The same with sampled stacks: its thread was seen in main alone, then every 100 ns in put or audit, which put calls, of serve.py; from
// 3000 on not at all. One gap comes again: after gemm, before softmax, in both measured steps.
export function sampled_data() {
  const data = sample_data(), first = data.names.length;
  data.names.push("main", "put", "audit", "serve.py", "audit (serve.py:10)");
  data.samples = {
    sampler: "python", every: 1, in_all: 7, function: [first, first + 1, first + 2, first + 2], file: [3, 3, 3, 3].map(i => first + i), line: [3, 22, 10, 11],
    up: [0, 1, 1, 2], frame: [0, 1, 2, 3], node: [0, 1, 2, 3], named: [0, 1, 2, 3],
    threads: [{ pid: 1, tid: 1, title: "thread", d: [950, 100, 400, 100, 100, 100, 1250], stack: [0, 1, 2, 3, 2, 1, 0] }],
  };
  data.gaps = {
    stage: [0, 0], of_windows: [2, 2], kind: [0, 2], before: [1, -1], after: [-1, -1], at_edge: [1, 0], count: [2, 9], windows: [2, 2],
    mean: [600, 50], total: [1200, 100], permille: [480, 40], samples: [8, 0], host_samples: [6, 0], host: [first + 4, -1],
  };
  return data;
}

export function sampled_detail() {
  return new Detail(sampled_data(), kSampleBins);
}
