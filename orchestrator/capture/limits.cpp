#include "orchestrator/capture/limits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "model/words.h"
#include "orchestrator/config/units.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

// The lower, the more it is worth.
int rank_of(PassKind kind) {
  switch (kind) {
    case PassKind::kNsys:
    case PassKind::kCollector: return 0;
    case PassKind::kNcu:
    case PassKind::kStageCounters:
    case PassKind::kKernelCounters: return 2;
    case PassKind::kUnprofiled:
    case PassKind::kNsysRepeat:
    case PassKind::kCollectorRepeat: return 3;
    default: return 1;
  }
}

// How many times as long as the trace it takes. ncu replays each kernel that it measures: 69 s where the trace took 38 (H200, generate()).
double length_of(PassKind kind) { return rank_of(kind) == 2 ? 2 : 1; }

fs::path nsys_temporary_folder() {
  const char* folder = std::getenv("TMPDIR");
  return fs::path(folder != nullptr && *folder != 0 ? folder : "/tmp") / "nvidia" / "nsight_systems";
}

// Sets a key to what costs less, and remembers what that loses.
void lighten(std::string& key, const char* less, const char* lost, std::vector<std::string>& without) {
  if (key == less) return;
  key = less;
  without.push_back(lost);
}

void lighten_nsys(NsysOptions& nsys, std::vector<std::string>& without) {
  std::vector<std::string> kept;
  for (const std::string& what : nsys.trace) (what == "cuda" || what == "nvtx" ? kept : without).push_back(what);
  if (!kept.empty()) nsys.trace = kept;
  lighten(nsys.sample, "none", "CPU samples", without);
  lighten(nsys.cpuctxsw, "none", "context switches", without);
  lighten(nsys.pytorch, "none", "PyTorch's ranges", without);
  lighten(nsys.cuda_graph_trace, "graph", "kernels inside CUDA graphs", without);
}

void lighten_collector(CaptureOptions& capture, std::vector<std::string>& without) {
  if (capture.sampling_us > 0) without.push_back("GPU activity");
  if (capture.pc_sampling > 0) without.push_back("stall reasons");
  capture.sampling_us = capture.pc_sampling = 0;
  if (choice<CudaCalls>(capture.cuda_calls) == CudaCalls::kAll)
    lighten(capture.cuda_calls, "work", "CUDA calls that start no work", without);
  lighten(capture.cuda_graphs, "graph", "kernels inside CUDA graphs", without);
}

}  // namespace

std::size_t workload_starts(std::span<const Pass> passes) {
  return static_cast<std::size_t>(std::count_if(passes.begin(), passes.end(), [](const Pass& pass) { return pass.starts_workload; }));
}

TimeBudget::TimeBudget(const Plan& plan) : budget_s_(plan.config.run.budget_s) {
  for (const Pass& pass : plan.passes)
    if (pass.starts_workload) ++to_come_[pass.kind];
  planned_length_ = length_to_come(std::numeric_limits<int>::max());
}

double TimeBudget::length_to_come(int worth_more_than) const {
  double length = 0;
  for (const auto& [kind, passes] : to_come_)
    if (rank_of(kind) < worth_more_than) length += length_of(kind) * static_cast<double>(passes);
  return length;
}

std::optional<Remark> TimeBudget::refusal(const Pass& pass) const {
  const int rank = rank_of(pass.kind);
  if (budget_s_ <= 0 || rank == 0 || !pass.starts_workload) return std::nullopt;
  const double alone_s = longest_s_ * length_of(pass.kind);
  if (spent_s_ + alone_s + longest_s_ * length_to_come(rank) <= budget_s_) return std::nullopt;
  return Remark{Code::kNoTimeLeft,
                {fmt::format("{:g}", budget_s_), fmt::format("{:.0f}", spent_s_), fmt::format("{:.0f}", std::ceil(alone_s))}};
}

void TimeBudget::take(const Pass& pass, double seconds) {
  spent_s_ += seconds;
  if (!pass.starts_workload) return;
  forget(pass);
  longest_s_ = std::max(longest_s_, seconds / length_of(pass.kind));
  if (!expected_s_) expected_s_ = longest_s_ * planned_length_;
}

void TimeBudget::forget(const Pass& pass) {
  if (!pass.starts_workload) return;
  if (std::size_t& count = to_come_[pass.kind]; count > 0) --count;
}

// The export of the pass is left out with it, without a note.
void TimeBudget::leave_out(const Pass& pass) {
  if (pass.starts_workload) ++left_out_[pass.kind];
}

double TimeBudget::expected_s(const Pass& pass) const { return pass.starts_workload ? longest_s_ * length_of(pass.kind) : 0; }

std::optional<Remark> TimeBudget::left_out() const {
  std::string names;
  for (const auto& [kind, passes] : left_out_)
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", passes > 1 ? fmt::format("{} × ", passes) : "", key_of(kind));
  if (names.empty()) return std::nullopt;
  return Remark{Code::kLeftOutForTime, {fmt::format("{:g}", budget_s_), names}};
}

std::uint64_t bytes_below(const fs::path& folder, std::optional<fs::file_time_type> since) {
  std::uint64_t bytes = 0;
  std::error_code failed;  // files come and go while we look
  for (auto at = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, failed);
       !failed && at != fs::end(at); at.increment(failed)) {
    std::error_code gone;
    if (!at->is_regular_file(gone) || (since && at->last_write_time(gone) < *since)) continue;
    if (const std::uintmax_t size = at->file_size(gone); !gone) bytes += size;
  }
  return bytes;
}

void limit_trace_size(Pass& pass, const Plan& plan) {
  const std::uint64_t limit = bytes_in(plan.config.capture.max_size).value_or(0);
  if (limit == 0) return;
  const fs::path output = plan.bundle / pass.outputs.at(0);
  const bool by_nsys = pass.kind == PassKind::kNsys;
  const fs::path folder = by_nsys ? output.parent_path() : output;
  const auto start = fs::file_time_type::clock::now();
  pass.process.enough = [=] { return bytes_below(folder) + (by_nsys ? bytes_below(nsys_temporary_folder(), start) : 0) > limit; };
}

std::optional<LighterPlan> lighter_plan(const Plan& plan) {
  Config config = plan.config;
  std::vector<std::string> without;
  if (plan.tracer == Tracer::kNsys) lighten_nsys(config.nsys, without);
  if (plan.tracer == Tracer::kCupti) lighten_collector(config.capture, without);
  if (without.empty()) return std::nullopt;
  return LighterPlan{make_plan(config, plan.tools, plan.bundle), fmt::format("{}", fmt::join(without, ", "))};
}

}  // namespace nl::orchestrator
