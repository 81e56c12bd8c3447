#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/codes.h"
#include "orchestrator/config/choices.h"
#include "orchestrator/config/config.h"
#include "orchestrator/machine/tools.h"
#include "orchestrator/process/process.h"

namespace nl::orchestrator {

struct Pass {
  PassKind kind = PassKind::kNsys;
  ProcessSpec process;
  std::vector<std::filesystem::path> outputs;  // relative to the bundle: what must exist afterwards
  std::string purpose;                         // one line for the dry run
  std::vector<std::string> private_env;        // of process.env, those whose values are not shown
  bool optional = false;                       // its failure is noted and does not fail the run
  bool records_launches = false;               // and nothing else of the GPU
  bool sample_power = false;                   // the GPUs' meters are read while it runs
  bool starts_workload = false;                // else it reads what another left
  bool even_if_stopped = false;                // reads what an interrupted pass before it has left
};

// What will be run, as data, and what it was made of. Which kernels are measured is known after the trace: the passes that
// count are planned with that left open, and made once more, by the same function, when it is known.
struct Plan {
  std::vector<Pass> passes;
  std::vector<Pass> further;  // pairs after those of the overhead, one after the other, as long as it is not decided
  Tracer tracer = Tracer::kNone;
  Meter meter = Meter::kNone;       // what will measure kernels
  std::string why;                  // it is captured so and not otherwise
  std::vector<Remark> adaptations;  // options left out or spelled otherwise, and why
  Config config;
  Toolset tools;
  std::filesystem::path bundle;  // absolute
};

// True where an unprofiled run is wanted: only its duration and its stages.
bool prefers_ranges(const Config& config);

// Throws Error(kUsage) where there is no command, Error(kTool) where nothing could capture it.
Plan make_plan(const Config& config, const Toolset& tools, const std::filesystem::path& bundle);

struct KernelChoice {  // one kernel that ncu shall profile
  std::string name;    // as nsys writes it
  std::string mangled_name;
  std::string short_name;
};

// The ncu pass for the kernels that were chosen. Attempt 1: inside the NVTX ranges. Attempt 2, after
// attempt 1 matched nothing: the same names without the NVTX filter, or, where there was none, by short
// names instead.
struct NcuRequest {
  std::vector<KernelChoice> kernels;      // empty: every kernel
  std::vector<std::string> nvtx_include;  // ncu's own syntax, escaped; empty: nvtx_filters(config)
  KernelNameBase kernel_name_base = KernelNameBase::kMangled;
  bool unmarked = false;  // the workload marks no stage: no filter by the stages' ranges
  int attempt = 1;
};
// `request` is null where the kernels are not known yet; the filter then says so.
Pass plan_ncu(const Config& config, const Toolset& tools, const std::filesystem::path& bundle, const NcuRequest* request,
              std::vector<Remark>& adaptations);
std::vector<Pass> plan_ncu_exports(const Config& config, const Tool& ncu, const std::filesystem::path& bundle);
Pass plan_nsys_export(const Config& config, const Tool& nsys, const std::filesystem::path& bundle);

// What measures the kernels that matter, and why; where nothing does, the code of the reason.
struct CounterChoice {
  Meter meter = Meter::kNone;
  std::string why;
  std::optional<Remark> missing = {};  // kCountersOff, kToolNotFound
};
CounterChoice choose_counters(const Config& config, const Toolset& tools);

// The names of the kernels to count, mangled, one a line; in the bundle.
inline constexpr const char* kCounterKernels = "counters/kernels.txt";

// The collector's passes for counters. Each starts the workload again, because counting perturbs the trace.
// Attempt 2 comes after attempt 1 found no launch inside the stages' ranges.
struct CounterRequest {
  std::optional<std::size_t> kernels = {};  // how many; nothing: not known yet
  bool anywhere = false;                    // not only inside the stages' ranges
  int attempt = 1;
};
std::optional<Pass> plan_stage_counters(const Config& config, const Toolset& tools, const std::filesystem::path& bundle);
Pass plan_kernel_counters(const Config& config, const Toolset& tools, const std::filesystem::path& bundle, const CounterRequest& request);

// The --nvtx-include expressions of a configuration: its own, or those of its stages.
std::vector<std::string> nvtx_filters(const Config& config);

// For `plan` and `run --dry-run`: each pass, its purpose and its command, ready to be pasted into a shell.
std::string describe_plan(const Plan& plan);
std::string plan_json(const Plan& plan);

// A pass as a shell command, with its folder and environment.
std::string shell_command(const Pass& pass);

}  // namespace nl::orchestrator
