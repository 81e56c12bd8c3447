#pragma once

#include "model/run.h"

namespace nl::test {

// A run with something in every field.
inline Run full_run() {
  Run run;
  run.run_id = "20250101-120000-llama-deep";
  run.created_at = "2025-01-01T12:00:00Z";
  run.name = "llama";
  run.mode = "deep";
  run.status = RunStatus::kPartial;
  run.problems = {{"ncu profiled 1 of 2 kernels", "ncu pass", "try --set ncu.replay_mode=application"}};
  Device gpu;
  gpu.name = "NVIDIA H200";
  gpu.uuid = "GPU-1";
  gpu.bus = "0000:01:00.0";
  gpu.chip = "GH100";
  gpu.sm_count = 132;
  gpu.clock_hz = 1980000000;
  gpu.memory_bytes = 150120103936;
  gpu.bandwidth_bytes_per_s = 4800000000000;
  gpu.l2_bytes = 62914560;
  gpu.compute_major = 9;
  run.hardware = {{gpu}, "580.1", "some CPU", 16, 1ull << 37, "x86_64"};
  run.software = {"0.1.0", "Debian 12", "6.1", "13.0", "2025.3.1", "2025.3.1"};
  run.model = {"llama", {{"dtype", "bf16"}, {"layers", "4"}}};
  run.workload = {{"python3", "run.py", "--prompt=it's"}, "work", 3};
  const TimeSummary time{3, 1000, 1000.0 / 3, 300, 500, 200, 500, 152.75252316519467};
  run.stages = {{"prefill", {"LLM:prefill"}, time, 900, 950, 7, 0}};
  NcuSample sample;
  sample.ncu_id = 4;
  sample.ncu_kernel_name = "void at::reduce<4>(T1)";
  sample.matched_by = "normalised_name";
  sample.grid = {8, 12, 1};
  sample.block = {384, 1, 1};
  sample.stage = "prefill";
  sample.nsys_median_ns = 300;
  sample.nsys_min_ns = 200;
  sample.nsys_max_ns = 500;
  sample.nsys_calls = 3;
  sample.ncu_duration_ns = 310;
  sample.durations_agree = true;
  sample.sm_pct = 61.25;
  sample.dram_pct = 12.5;
  sample.occupancy_pct = 33.3;
  sample.dram_bytes = 1024;
  sample.bound_by = "compute";
  sample.metrics = {{"gpu__time_duration.sum", 310}, {"sm__throughput", 0.1}};
  KernelEntry kernel;
  kernel.name = "void at::native::reduce<(int)4>(T1)";
  kernel.mangled_name = "_Z6reduce";
  kernel.short_name = "reduce";
  kernel.time = time;
  kernel.gpu_share = 1;
  kernel.graph_calls = 1;
  kernel.stages = {{"prefill", 600, 2}, {"none", 400, 1}};
  kernel.selected = true;
  kernel.ncu = {sample};
  run.kernels = {{kernel}};
  run.api = {{"cudaLaunchKernel", time}};
  run.ranges = {{"LLM", "prefill", RangeStyle::kStartEnd, time, 900, 7}};
  run.coverage = {1000, 1000, 0.6, 0.0, std::nullopt};
  run.import_stats = {"nsys-sqlite", "3.20.3", "2025.3.1", {{"NVTX_EVENTS", 5}}, {{"end before start", 1}}, {"GPU_METRICS"}, {"a note"}};
  run.ncu_rows_damaged = {{"a row was cut off", 1}};
  run.provenance = {"nsys+ncu",
                    {{"nsys", {"nsys", "profile", "--trace=cuda,nvtx"}, std::nullopt, 5, "ok", "", {"nsys/run.nsys-rep"}}},
                    {"--gpu-metrics-devices left out"},
                    {{"run.sqlite", std::string(64, 'a')}}};
  return run;
}

}  // namespace nl::test
