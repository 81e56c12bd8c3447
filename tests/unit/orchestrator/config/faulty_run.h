#pragma once

#include "tests/unit/orchestrator/config/healthy_run.h"
#include "tests/unit/orchestrator/made_nodes.h"

// What goes wrong with a healthy run, one fault each.
namespace nl::test {

inline constexpr const char* kStep = "decode_step";
inline constexpr const char* kGemm = "ampere_bf16_gemm_128x128";
inline constexpr const char* kMap = "vectorized_elementwise_kernel";
inline constexpr const char* kFlash = "flash_fwd_kernel";

inline void storm(Run& run, std::uint64_t kernels_a_window, std::uint64_t small_in_ten, double time_share = 0.4) {
  StageActivity& did = activity(run, kStep);
  did.kernels = did.graph_kernels = kernels_a_window * 20;
  did.small_kernels = did.kernels * small_in_ten / 10;
  did.small_kernel_ns = static_cast<Ns>(time_share * static_cast<double>(stage(run, kStep).wall.total_ns));
}

inline void ungraphed(Run& run, std::uint64_t launches_a_window) {
  activity(run, kStep).graph_launches = 0;
  activity(run, kStep).launches = launches_a_window * 20;
  spend(run, kStep, &Budget::queue_wait_ns, 0.12);
}

inline void synced(Run& run, double sync_share) {
  activity(run, kStep).sync_calls = 20;
  spend(run, kStep, &Budget::sync_blocked_ns, sync_share);
}

inline void to_host(Run& run, double sync_share) {
  activity(run, kStep).d2h_copies = 20;
  activity(run, kStep).d2h_bytes = 20 * 64;
  spend(run, kStep, &Budget::sync_blocked_ns, sync_share);
}

inline void gap(Run& run, Ns gap_ns) {
  activity(run, kStep).longest_gap_ns = gap_ns;
  activity(run, kStep).longest_gap_at_ns = 61000000;
  spend(run, kStep, &Budget::queue_wait_ns, 0.12);
}

// Two of the steps load code, and take so long together.
inline void code_loading(Run& run, Ns slow_ns) {
  for (StageEntry& stage : run.stages)
    if (stage.name == kStep) stage.slow_windows = SlowWindows{2, Budget{slow_ns}, 4, 6000000};
}

inline void experts(Run& run, std::uint64_t gemms_a_window) {
  activity(run, kStep).gemm_kernels = gemms_a_window * 20;
  activity(run, kStep).gemm_ns = static_cast<Ns>(gemms_a_window) * 20 * 11000;
}

// Two ranks: how often the slower one is last, and for how long the other waits.
inline void ranks(Run& run, double last_share, Ns late_ns, double compute_spread = 0) {
  StageEntry& prefill = stage(run, "prefill");
  GpuSpread& spread = prefill.gpu_spread.emplace();
  spread.slowest_device = 1;
  spread.slowest_pid = 4711;
  spread.slowest_by = SlowestBy::kArrival;
  spread.slowest_last_share = last_share;
  spread.compute_spread = compute_spread;
  Communication& talk = prefill.communication.emplace_back();
  talk.device = 1;
  talk.pid = 4711;
  talk.last_arrivals = 20;
  talk.late_peer_ns = late_ns;
  prefill.budget->gpu_compute_ns -= late_ns;  // no kernel hides it
  prefill.budget->communication_ns += late_ns;
}

// The second of two ranks is late in five steps, by so much in the first of them and by `each_ns` in the others; ranks wait for each other 4 % of the
// time.
inline void late_in_steps(Run& run, Ns first_ns, Ns each_ns) {
  ranks(run, 0.9, 4000000);
  run.rank_matrix.stage = "prefill";
  run.rank_matrix.steps = 5;
  run.ranks.resize(2);
  run.ranks[1].rank = 1;
  run.ranks[1].step_lateness = RankLateness{.last = 5, .late_ns = first_ns + 4 * each_ns, .worst_step_ns = first_ns};
  run.ranks[1].pids = {4711};
  for (RankEntry& rank : run.ranks) rank.budget.wall_ns = 1000000, rank.budget.wait_ns = 40000;
}

// The experts of the second of two ranks have more to compute than those of the first: the ranks would save so much of 1 ms each.
inline void busy_experts(Run& run, Ns excess_ns) {
  run.rank_matrix.stage = "prefill";
  run.ranks.resize(2);
  run.ranks[1].rank = 1;
  run.ranks[1].pids = {4711};
  run.ranks[1].devices = {1};
  for (RankEntry& rank : run.ranks) rank.budget.wall_ns = 1000000, rank.budget.wait_ns = 40000;
  run.expert_loads = {{{0, 1}, 10, 200000, 200000 + excess_ns, 1, 260000, 9, "fused_moe_kernel"}};
}

inline void hung(Run& run, std::vector<AbsentRank> absent) {
  run.ranks.resize(2);
  run.ranks[1].rank = 1;
  run.rank_hang = RankHang{{0}, std::move(absent), Collective::kAllReduce, 5, 9'000'000'000};
}

// What a GPU computes in the windows of a process.
inline StageDevice computing(std::int32_t device, Ns compute_ns, std::uint32_t pid = 1, std::uint64_t windows = 1) {
  StageDevice out;
  out.device = device;
  out.pid = pid;
  out.windows = windows;
  out.busy_ns = out.budget.gpu_compute_ns = compute_ns;
  return out;
}

// Two stages of a pipeline, of which the second waits for the first so much of the time; the first never does.
inline void pipeline(Run& run, double second_waits) {
  run.rank_matrix.stage = "prefill";
  run.rank_pairs = {{0, 1, 10, 0, 1000, 10}};
  run.ranks.resize(2);
  run.ranks[1].rank = 1;
  run.ranks[1].source = RankSource::kEnvironment;
  for (RankEntry& rank : run.ranks) rank.budget.wall_ns = 1000000, rank.budget.wait_ns = 40000;
  run.ranks[1].budget.receive_wait_ns = static_cast<Ns>(second_waits * 1000000);
}

inline void talking_capture(Run& run, Ns exposed_ns) {
  run.stages.clear();
  run.coverage.devices = {{0, 1, 1000, 900, exposed_ns, 0}};
}

// The GPU waits for launches a fifth of the step; so many of 40 samples meanwhile are of that kind.
inline HostCode& sampled_host(Run& run, HostWork kind, std::uint64_t samples) {
  spend(run, kStep, &Budget::launch_starved_ns, 0.20);
  run.host.emplace().sampler = HostSampler::kPython;
  HostCode& code = stage(run, kStep).host_code.emplace();
  code.waited_ns = stage(run, kStep).budget->launch_starved_ns;
  code.samples = 40;
  code.kinds = {{kind, samples, {}}, {HostWork::kOther, 40 - samples, {}}};
  code.lines = {{{"step", "/code/gen.py", "gen", 12, 3, ""}, kind, samples, samples, {}, {}}};
  HostBlame& blame = code.blame.emplace();
  blame.samples = 40;
  blame.function = blame.line = code.lines[0].frame;
  blame.function_samples = blame.line_samples = samples;
  return code;
}

inline void garbage(Run& run, Ns time_ns) {
  HostCode& code = sampled_host(run, HostWork::kOther, 0);
  code.collections = 2;
  code.collection_ns = time_ns;
}

// A gap of every step in which the program's own code runs for `host_ns`, of 100 ms.
inline void own_gap(Run& run, Ns host_ns) {
  spend(run, kStep, &Budget::launch_starved_ns, 0.20);
  run.host.emplace().sampler = HostSampler::kPython;
  StageEntry& step = stage(run, kStep);
  StageGap& gap = step.gaps.emplace_back();
  gap.kind = GapKind::kRecurring;
  gap.windows = gap.count = step.wall.count;
  gap.budget.wall_ns = gap.budget.launch_starved_ns = gap.not_launching_ns = host_ns;
  gap.mean_ns = static_cast<double>(host_ns) / static_cast<double>(step.wall.count);
  gap.wall_share = static_cast<double>(host_ns) / static_cast<double>(step.budget->wall_ns);
  HostBlame& blame = gap.host.emplace();
  blame.samples = blame.own_samples = blame.function_samples = 12;
  blame.kind = HostWork::kUser;
  blame.function = HostFrame{"check", "/code/gen.py", "__main__", 4, 4, ""};
}

inline void sync_at_line(Run& run, Ns time_ns) {
  synced(run, 0.06);
  activity(run, kStep).sync_call_ns = 10000000;
  run.host.emplace().sampler = HostSampler::kPython;
  stage(run, kStep).host_code.emplace().syncs = {{{"step", "/code/gen.py", "gen", 12, 3, "x.item()"}, 30, time_ns}};
}

inline void clocks(Run& run, double share, const char* reason) {
  run.energy.devices[0].throttled_share = share;
  run.energy.devices[0].throttle_reasons = {reason};
  run.energy.devices[0].sm_clock_median_mhz = 1500;
}

// A product whose operands and result have 3,670,016 bytes, in four bytes an element.
inline void refetched(Run& run, double times) {
  run.operators[0].entries[0].kernels = {{kGemm, 100, 10000000}};
  run.operators[0].entries[0].shapes = {{"[[256, 1024], [1024, 512]]", 100, 1, 1}};
  sample_of(run, 0).metrics["lts__t_sector_hit_rate.pct"] = 29;
  sample_of(run, 0).values[nl::Metric::kDramBytes] = times * 3670016;
}

inline OperatorCall falling_back(Ns ns) { return node_of("/n", "NonZero", OperatorType::kIndex, ns, kCpu); }
inline OperatorCall copying(Ns ns) { return node_of("Memcpy", "MemcpyToHost", OperatorType::kCopy, ns, kCuda); }
inline OperatorCall casting(Ns ns) { return node_of("/c", "Cast", OperatorType::kCast, ns, kCpu); }
inline OperatorCall transposing(Ns ns) { return node_of("/t", "Transpose", OperatorType::kShape, ns, kCpu); }
inline OperatorCall reshaping() { return node_of("/r", "Reshape", OperatorType::kShape, 0, kCpu); }

// A product of that time among as many sums of 100 together.
inline void product_among(Run& run, Ns product_ns, int sums) {
  std::vector<OperatorCall> calls(static_cast<std::size_t>(sums), node_of("/a", "Add", OperatorType::kElementwise, 100 / sums, kCpu));
  calls.push_back(matmul("/m", product_ns));
  add_nodes(std::move(calls), run);
}

}  // namespace nl::test
