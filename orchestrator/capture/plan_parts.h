#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "model/codes.h"
#include "orchestrator/capture/plan.h"
#include "orchestrator/config/config.h"

// What the plan_*.cpp share: the parts that make_plan() puts together.
namespace nl::orchestrator {

std::filesystem::path absolute_bundle(const std::filesystem::path& bundle);
// logs/nsys-repeat-2.stdout.log; 0: without a number.
void set_logs(Pass& pass, const std::filesystem::path& bundle, int number = 0);
void append(std::vector<std::string>& argv, const std::vector<std::string>& more);
bool surely_no_gpu(const Toolset& tools);  // NVML says so; where it says nothing there may be one

// Environment, folder, logs and timeout of a pass that runs the workload.
Pass workload_pass(PassKind kind, const Config& config, const std::filesystem::path& bundle, double timeout_s);

// Puts the library path of the tool before the workload's own.
void set_tool_env(Pass& pass, const Tool& tool);

// Unsets the variables by which nsys and ncu load themselves into the workload. With another library in their place the capture would
// fail, and ncu refuses to start.
void clear_injections(Pass& pass, const Toolset& tools, std::vector<Remark>& adaptations);

// The collector, loaded by NVTX into the workload; its files go to `folder` of the bundle.
Pass ranges_pass(PassKind kind, const Config& config, const Toolset& tools, const std::filesystem::path& bundle,
                 const std::filesystem::path& folder, double timeout_s);

// Loads the collector's GPU half as well, with the options of a capture.
void trace_by_cupti(Pass& pass, const Config& config, const Toolset& tools);

// Lets an unprofiled pass also record when each launch was made, and nothing else: of a workload that marks no stage it is all that tells how
// long a step takes.
void record_launches(Pass& pass, const Config& config, const Toolset& tools);

// The passes of a capture, and around them those that measure its overhead: the workload unprofiled, and traced once more by what
// `again` returns. make_repeat() makes such a pass of the one that captures.
void add_in_turns(Plan& plan, std::vector<Pass> capture, const std::function<std::vector<Pass>(int number)>& again);
void make_repeat(Pass& pass, PassKind kind, const Config& config, const std::filesystem::path& bundle, int number);

// The workload once more, recording what PyTorch's operators are; where the workload does not use PyTorch, the capture
// shows that and the pass is skipped. The two builders make it of the pass that captures, by this function and from operator_config().
void add_operator_passes(Plan& plan);
void make_operator_pass(Pass& pass, const std::filesystem::path& bundle);
Config operator_config(const Config& config);
std::vector<Pass> nsys_operator_passes(const Config& config, const Toolset& tools, const std::filesystem::path& bundle);
Pass cupti_operator_pass(const Config& config, const Toolset& tools, const std::filesystem::path& bundle);

void add_nsys_passes(Plan& plan);
void add_ncu_passes(Plan& plan);
Pass collector_pass(const Config& config, const Toolset& tools, const std::filesystem::path& bundle);
void add_cupti_passes(Plan& plan);
void add_counter_passes(Plan& plan);

// "nsys-repeat-2": of a pass' logs and folders; 0: without a number.
std::string pass_name(PassKind kind, int number = 0);

// What a pass starts. A Hydra program (workload.hydra) would write to one folder for all passes, or to one by the clock: it
// gets a folder of the bundle for each, and hydra.job.chdir where workload.hydra_chdir asks for one and its own arguments do not.
std::vector<std::string> workload_command(const WorkloadOptions& workload, const std::filesystem::path& bundle, PassKind kind,
                                          int number = 0);

}  // namespace nl::orchestrator
