#include "orchestrator/capture/trace_size.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "orchestrator/config/units.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

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
