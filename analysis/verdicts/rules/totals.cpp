#include "analysis/verdicts/rules/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/account/gpu_mean.h"
#include "model/headline.h"
#include "model/operator.h"
#include "model/words.h"

namespace nl::analysis::rules {
namespace {

std::optional<std::size_t> step_of_table(const Run& run, const OperatorTable& table) {
  for (std::size_t i = 0; i < run.operator_steps.size(); ++i) {
    const OperatorStep& step = run.operator_steps[i];
    if (step.source == table.source && step.file == table.file && has_nodes(step)) return i;
  }
  return std::nullopt;
}

// "CPUExecutionProvider", "cpu"
bool is_cpu(const std::string& provider) { return provider.starts_with("CPU") || provider.starts_with("cpu"); }

bool computes(OperatorType type) {
  return type == OperatorType::kMatmul || type == OperatorType::kConvolution || type == OperatorType::kAttention;
}

bool transposes(const OperatorCall& call) {
  for (const std::string_view name : {"Transpose", "aten::transpose", "aten::permute", "Shuffle"})
    if (call.name == name) return true;
  return false;
}

std::string largest(const std::map<std::string, Ns>& times) {
  const auto most = std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == times.end() ? std::string() : most->first;
}

class StepSums {
 public:
  StepSums(const OperatorStep& step, const OperatorTable& table) : step_(step), own_(own_times(step)) {
    totals_.operators.resize(table.entries.size());
    providers_.resize(table.entries.size());
    for (std::size_t i = 0; i < table.entries.size(); ++i) entries_.emplace(table.entries[i].name, i);
    add_providers();
    for (std::size_t i = 0; i < step.calls.size(); ++i) add_node(i);
    add_chains();
    for (std::size_t i = 0; i < providers_.size(); ++i) totals_.operators[i].provider = largest(providers_[i]);
  }
  StepTotals take() { return std::move(totals_); }

 private:
  // A table is by operator; that of TensorRT by layer.
  NodeTotals* entry_of(const OperatorCall& call) {
    auto found = entries_.find(call.name);
    if (found == entries_.end()) found = entries_.find(call.node);
    return found == entries_.end() ? nullptr : &totals_.operators[found->second];
  }

  void add_providers() {
    std::map<std::string, Ns> all, others;
    bool known = !step_.calls.empty();
    for (std::size_t i = 0; i < step_.calls.size(); ++i) {
      const std::string& provider = step_.calls[i].provider;
      known = known && !provider.empty();
      if (provider.empty()) continue;
      all[provider] += own_[i];
      if (!is_cpu(provider)) others[provider] += own_[i];
    }
    falls_back_ = !others.empty();
    totals_.main_provider = largest(falls_back_ ? others : all);
    totals_.cpu_only = known && others.empty();
  }

  void add_node(std::size_t i) {
    const OperatorCall& call = step_.calls[i];
    totals_.own_ns += own_[i];
    if (computes(call.type)) totals_.compute_ns += own_[i];
    NodeTotals* sum = entry_of(call);
    if (sum == nullptr) return;
    ++sum->nodes;
    sum->own_ns += own_[i];
    if (!call.provider.empty()) providers_[static_cast<std::size_t>(sum - totals_.operators.data())][call.provider] += own_[i];
    if (falls_back_ && is_cpu(call.provider)) {
      ++sum->fallback_nodes;
      sum->fallback_ns += own_[i];
    }
    if (sum->top_node.empty() || own_[i] > sum->top_node_ns) {
      sum->top_node = call.node;
      sum->top_node_ns = own_[i];
    }
  }

  // Neighbours of one kind, in the order of the iteration.
  template <class IsLink, class Counts>
  void add_chains_of(IsLink is_link, Counts counts) {
    for (std::size_t first = 0; first < step_.calls.size();) {
      std::size_t end = first;
      while (end < step_.calls.size() && is_link(step_.calls[end])) ++end;
      for (std::size_t i = first; i < end && end - first >= 2; ++i) {
        NodeTotals* sum = counts(step_.calls[i]) ? entry_of(step_.calls[i]) : nullptr;
        if (sum == nullptr) continue;
        ++sum->chain_nodes;
        sum->chain_ns += own_[i];
        sum->longest_chain = std::max<std::uint64_t>(sum->longest_chain, end - first);
      }
      first = std::max(end, first + 1);
    }
  }
  void add_chains() {
    add_chains_of([](const OperatorCall& call) { return call.type == OperatorType::kCast; }, [](const OperatorCall&) { return true; });
    add_chains_of([](const OperatorCall& call) { return call.type == OperatorType::kShape; }, transposes);
  }

  const OperatorStep& step_;
  const std::vector<Ns> own_;
  StepTotals totals_;
  std::unordered_map<std::string, std::size_t> entries_;
  std::vector<std::map<std::string, Ns>> providers_;
  bool falls_back_ = false;
};

// Nothing where no step of that table has nodes. Of several steps the first counts, which has the most time.
std::optional<StepTotals> total_nodes(const Run& run, const OperatorTable& table) {
  const auto step = step_of_table(run, table);
  if (!step) return std::nullopt;
  StepTotals totals = StepSums(run.operator_steps[*step], table).take();
  totals.step = *step;
  return totals;
}

// Several GPUs as one of them sees it, so that a time of GPU work can be compared with the wall.
using A = StageActivity;

constexpr std::uint64_t A::* kHostCounts[] = {&A::launches, &A::graph_launches, &A::sync_calls};
constexpr Ns A::* kHostTimes[] = {&A::launch_call_ns, &A::sync_call_ns};
constexpr std::uint64_t A::* kGpuCounts[] = {
    &A::kernels,         &A::graph_kernels,      &A::small_kernels,     &A::elementwise_kernels, &A::h2d_bytes,
    &A::d2h_bytes,       &A::d2d_bytes,          &A::h2d_copies,        &A::d2h_copies,          &A::d2d_copies,
    &A::pageable_copies, &A::gemm_kernels,       &A::attention_kernels, &A::reduce_kernels,      &A::norm_kernels,
    &A::copy_kernels,    &A::cache_copy_kernels, &A::memsets,           &A::graph_runs,          &A::communication_kernels,
    &A::peer_bytes,      &A::peer_copies};
constexpr Ns A::* kGpuTimes[] = {
    &A::kernel_sum_ns,  &A::small_kernel_ns, &A::elementwise_ns, &A::gemm_ns,       &A::attention_ns,
    &A::copy_kernel_ns, &A::h2d_ns,          &A::d2h_ns,         &A::d2d_ns,        &A::memset_ns,
    &A::pageable_ns,    &A::reduce_ns,       &A::norm_ns,        &A::cache_copy_ns, &A::communication_kernel_ns,
    &A::peer_ns};

// How many GPUs each window's process uses: ranks with one GPU each have windows of their own.
double gpus_of(const std::vector<StageDevice>& devices, Ns wall_ns) {
  double walls = 0;
  for (const StageDevice& gpu : devices) walls += static_cast<double>(gpu.budget.wall_ns);
  return wall_ns > 0 ? std::max(1.0, walls / static_cast<double>(wall_ns)) : 1;
}

StageActivity of_one_gpu(StageActivity activity, double gpus) {
  if (gpus == 1) return activity;
  for (const auto member : kGpuCounts)
    activity.*member = static_cast<std::uint64_t>(std::llround(static_cast<double>(activity.*member) / gpus));
  for (const auto member : kGpuTimes) activity.*member = static_cast<Ns>(std::llround(static_cast<double>(activity.*member) / gpus));
  activity.streams_used = static_cast<std::uint32_t>(std::ceil(activity.streams_used / gpus));
  return activity;
}

double overlapped_of(const std::vector<StageDevice>& devices, double gpus) {
  double sum = 0;
  for (const StageDevice& gpu : devices) sum += static_cast<double>(gpu.overlapped_communication_ns);
  return sum / gpus;
}

StageTotals stage_totals(const Run& run, const StageEntry& stage) {
  StageTotals out;
  if (stage.budget) out.gpus = gpus_of(stage.devices, stage.budget->wall_ns);
  if (stage.activity) out.activity = of_one_gpu(*stage.activity, out.gpus);
  out.communication.overlapped_ns = overlapped_of(stage.devices, out.gpus);
  for (const Communication& each : stage.communication) {
    out.communication.count += each.count;
    if (each.late_peer_ns)
      out.communication.late_peer_ns = out.communication.late_peer_ns.value_or(0) + static_cast<double>(*each.late_peer_ns) / out.gpus;
  }
  if (stage.gpu_spread) {
    out.slowest_gpu = gpu_name(run.ranks, stage.gpu_spread->slowest_device, stage.gpu_spread->slowest_pid);
    for (const Communication& each : stage.communication)
      if (each.device == stage.gpu_spread->slowest_device && each.pid == stage.gpu_spread->slowest_pid)
        out.slowest_last += each.last_arrivals.value_or(0);
    out.slowest_rank = rank_of(run.ranks, stage.gpu_spread->slowest_pid);
  }
  return out;
}

CaptureTotals capture_totals(const Run& run) {
  CaptureTotals out;
  for (const CaptureDevice& gpu : run.coverage.devices) {
    out.busy_ns += static_cast<double>(gpu.busy_ns);
    out.exposed_ns += static_cast<double>(gpu.communication_ns);
    out.overlapped_ns += static_cast<double>(gpu.overlapped_communication_ns);
  }
  for (const Communication& each : run.communication) {
    out.paired = out.paired || each.late_peer_ns;
    out.late_peer_ns += static_cast<double>(each.late_peer_ns.value_or(0));
  }
  return out;
}

void add_activity(StageActivity& sum, const StageActivity& more) {
  for (const auto member : kHostCounts) sum.*member += more.*member;
  for (const auto member : kGpuCounts) sum.*member += more.*member;
  for (const auto member : kHostTimes) sum.*member += more.*member;
  for (const auto member : kGpuTimes) sum.*member += more.*member;
  sum.longest_elementwise_chain = std::max(sum.longest_elementwise_chain, more.longest_elementwise_chain);
  sum.streams_used = std::max(sum.streams_used, more.streams_used);
  if (more.longest_gap_ns <= sum.longest_gap_ns) return;
  sum.longest_gap_ns = more.longest_gap_ns;
  sum.longest_gap_at_ns = more.longest_gap_at_ns;
}

std::string busiest_experts(const Run& run) {
  for (const RankEntry& rank : run.ranks)
    if (!run.expert_loads.empty() && rank.rank == run.expert_loads.front().busiest && !rank.devices.empty() && !rank.pids.empty())
      return gpu_name(run.ranks, rank.devices.front(), rank.pids.front());
  return {};
}

// Sets the totals of the run's stages, communication and capture.
void total_gpus(const Run& run, RunTotals& totals) {
  totals.busiest_experts = busiest_experts(run);
  if (run.rank_hang) {
    std::vector<std::uint32_t> absent;
    for (const AbsentRank& rank : run.rank_hang->absent) absent.push_back(rank.rank);
    totals.waiting_ranks = rank_texts(run.ranks, run.rank_hang->waiting);
    totals.absent_ranks = rank_texts(run.ranks, absent);
  }
  for (const StageEntry& stage : run.stages) totals.stages.push_back(stage_totals(run, stage));
  totals.communication.overlapped_ns = overlapped_of(run.phases.devices, gpus_of(run.phases.devices, run.phases.span_ns));
  totals.capture = capture_totals(run);
}

// The kernel time of the capture as one GPU of each process sees it: what a budget can be compared with.
std::optional<double> kernel_time_ns(const Run& run) {
  if (run.coverage.devices.empty())
    return run.coverage.kernel_sum_ns ? std::optional(static_cast<double>(*run.coverage.kernel_sum_ns)) : std::nullopt;
  std::map<std::uint32_t, std::pair<double, int>> processes;  // time, GPUs
  for (const CaptureDevice& gpu : run.coverage.devices) {
    processes[gpu.pid].first += static_cast<double>(gpu.kernel_sum_ns);
    ++processes[gpu.pid].second;
  }
  double sum = 0;
  for (const auto& [pid, process] : processes) sum += process.first / process.second;
  return sum;
}

void total_phases(const Run& run, RunTotals& totals) {
  if (run.phases.span_ns <= 0) return;
  totals.span_ns = run.phases.span_ns;
  totals.idle_ns = 0;
  totals.mixed_ns = 0;
  Budget sum;
  bool all = true;
  for (const Phase& phase : run.phases.phases) {
    if (stage_kind(phase.name) == StageKind::kIdle) *totals.idle_ns += phase.wall_ns;
    if (stage_kind(phase.name) == StageKind::kMixed) *totals.mixed_ns += phase.wall_ns;
    if (phase.budget) add_budget(sum, *phase.budget);
    else all = all && phase.wall_ns == 0;
  }
  if (all && !run.phases.phases.empty()) totals.budget = sum;
}

bool has_stage(const Run& run, StageKind kind) {
  return std::any_of(run.stages.begin(), run.stages.end(), [&](const StageEntry& stage) { return stage_kind(stage.name) == kind; });
}

// Stages that lie inside others, as sampling does, are not phases: all of their time belongs to the others, too.
bool lies_inside_others(const Run& run, const StageEntry& stage) {
  const auto& phases = run.phases.phases;
  return !phases.empty() && std::none_of(phases.begin(), phases.end(), [&](const Phase& phase) { return phase.name == stage.name; });
}

// The stages whose sum is the run: steps lie inside decode, and others may lie inside each other, too.
std::vector<const StageEntry*> stages_side_by_side(const Run& run, const std::optional<Ns>& span_ns) {
  const bool decode = has_stage(run, StageKind::kDecode);
  std::vector<const StageEntry*> stages;
  Ns walls_ns = 0;
  for (const StageEntry& stage : run.stages) {
    if ((decode && stage_kind(stage.name) == StageKind::kDecodeStep) || encloses_others(run, stage)) continue;
    stages.push_back(&stage);
    walls_ns += stage.wall.total_ns;
  }
  if (!span_ns || walls_ns <= *span_ns) return stages;
  std::erase_if(stages, [&](const StageEntry* stage) { return lies_inside_others(run, *stage); });
  return stages;
}

void total_activity(const Run& run, RunTotals& totals) {
  StageActivity sum;
  Ns walls_ns = 0;
  const auto stages = stages_side_by_side(run, totals.span_ns);
  for (const StageEntry* stage : stages) {
    const auto& activity = totals.stages[static_cast<std::size_t>(stage - run.stages.data())].activity;
    if (!activity) return;
    add_activity(sum, *activity);
    walls_ns += stage->wall.total_ns;
  }
  if (!stages.empty() && (!totals.span_ns || walls_ns <= *totals.span_ns)) totals.activity = sum;
}

void total_iterations(const Run& run, RunTotals& totals) {
  const auto& list = run.iterations.list;
  if (list.size() < 3) return;  // a first one, and two to compare it with
  std::vector<Ns> rest;
  for (auto each = list.begin() + 1; each != list.end(); ++each)
    if (!each->warmup) rest.push_back(each->wall_ns);
  if (rest.size() < 2) return;
  std::sort(rest.begin(), rest.end());
  const double median = static_cast<double>(rest[rest.size() / 2]);
  if (median <= 0) return;
  totals.first_iteration_ratio = static_cast<double>(list.front().wall_ns) / median;
  totals.iteration_spread = static_cast<double>(rest.back() - rest.front()) / median;
}

void total_system(const Run& run, RunTotals& totals) {
  for (const StageSlowdown& stage : run.perturbation.stages)
    if (is_tracer(stage.profiler) && stage.slowdown && stage.verdict != SlowdownVerdict::kUndecidable)
      totals.worst_slowdown = std::max(totals.worst_slowdown.value_or(*stage.slowdown), *stage.slowdown);
  for (std::size_t i = 0; i < run.energy.devices.size(); ++i) {
    const ClockSummary& device = run.energy.devices[i];
    if (!totals.clock_device) totals.clock_device = i;
    if (!device.throttled_share || (totals.throttled_share && *device.throttled_share <= *totals.throttled_share)) continue;
    totals.throttled_share = device.throttled_share;
    totals.clock_device = i;
  }
  if (!totals.clock_device) return;
  for (const auto& reason : run.energy.devices[*totals.clock_device].throttle_reasons)
    totals.throttle_reasons += (totals.throttle_reasons.empty() ? "" : ", ") + reason;
}

}  // namespace

bool encloses_others(const Run& run, const StageEntry& stage) {
  return stage_kind(stage.name) == StageKind::kRequest && (has_stage(run, StageKind::kPrefill) || has_stage(run, StageKind::kDecode));
}

bool is_tracer(PassKind profiler) { return profiler == PassKind::kNsys || profiler == PassKind::kCollector; }

double paced_part(const Budget& budget) {
  const Ns host_ns = budget.launch_wait_ns() + budget.sync_blocked_ns + budget.other_host_ns;
  return budget.wall_ns > 0 ? 1 - static_cast<double>(host_ns) / static_cast<double>(budget.wall_ns) : 1;
}

double launching_ns(const StageEntry& stage, double waits_ns) {
  double other_ns = 0;
  for (const StageGap& gap : stage.gaps) {
    const bool all = gap.kind != GapKind::kBetweenLaunches;  // else it is known of the waits for launches alone
    const Ns host_ns = gap.budget.launch_starved_ns + (all ? gap.budget.other_host_ns : 0);
    if (host_ns <= 0) continue;
    other_ns +=
        static_cast<double>(gap.not_launching_ns) * static_cast<double>(gap.budget.launch_starved_ns) / static_cast<double>(host_ns);
  }
  return std::max(0.0, waits_ns - other_ns);
}

double overlap_ns(const Budget& budget, const StageActivity& activity) {
  return static_cast<double>(std::min(activity.sync_call_ns, budget.sum_ns() - budget.busy_ns()));
}

double RunTotals::steps_per(const StageEntry& stage) const {
  if (stage_kind(stage.name) == StageKind::kDecodeStep) return 1;
  return has_steps && stage.wall.count > 0 ? steps / static_cast<double>(stage.wall.count) : 0;
}

namespace {

// Every rule asks for them of every stage, so they are sorted by stage once.
void total_launches(const Run& run, RunTotals& totals) {
  if (!run.kernels) return;
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < run.stages.size(); ++i) places.emplace(run.stages[i].name, i);
  for (std::size_t i = 0; i < run.kernels->size(); ++i)
    for (const StageLaunches& launches : (*run.kernels)[i].measured)
      if (const auto found = places.find(launches.stage); found != places.end())
        totals.stages[found->second].launches.push_back({i, launches.total_ns});
}

}  // namespace

RunTotals total(const Run& run) {
  RunTotals totals;
  for (const StageEntry& stage : run.stages)
    if (stage_kind(stage.name) == StageKind::kDecodeStep) totals.steps += static_cast<double>(stage.wall.count);
  totals.has_steps = has_stage(run, StageKind::kDecodeStep);
  totals.incomplete = is_incomplete(run);
  totals.generates = generates(run);
  total_gpus(run, totals);
  total_launches(run, totals);
  total_phases(run, totals);
  total_activity(run, totals);
  total_iterations(run, totals);
  total_system(run, totals);
  total_software(run, totals);
  for (const OperatorTable& table : run.operators) totals.nodes.push_back(total_nodes(run, table));
  if (const auto kernels_ns = kernel_time_ns(run); totals.budget && kernels_ns && *kernels_ns > 0)
    totals.measured_part =
        std::min(1.0, static_cast<double>(totals.budget->gpu_compute_ns + totals.budget->communication_ns) / *kernels_ns);
  if (totals.budget) totals.gpu_paced_part = paced_part(*totals.budget);
  totals.working = working_kernels(run);
  totals.working_place.assign(run.kernels ? run.kernels->size() : 0, totals.working.list.size());
  for (std::size_t i = 0; i < totals.working.list.size(); ++i) totals.working_place[totals.working.list[i].index] = i;
  return totals;
}

}  // namespace nl::analysis::rules
