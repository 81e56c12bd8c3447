#pragma once

#include "model/trace.h"
#include "orchestrator/capture/launch.h"

namespace nl::orchestrator {

// The collector's passes for the GPU's counters, after the trace: the stages as a whole, then the kernels that the run
// marked as selected, read and joined to the run as ncu's would be. What could not be measured is said, on each
// kernel (ncu_note) and in the verdict; the trace loses nothing by it.
void launch_counters(const Config& config, const Toolset& tools, const Trace& trace, const Bundle& bundle,
                     PassRunner& passes, Verdict& verdict, Run& run);

// What the collector wrote beside the trace because sampling was asked for and did not work.
void judge_sampling(const Config& config, const Trace& trace, Verdict& verdict);

// The collector's words for why a pass counted nothing; empty where there are none.
std::string counter_trouble(const std::vector<std::string>& notes);
bool is_permission_trouble(const std::string& trouble);

// The same where none are wanted: every chosen kernel says why it has none.
void leave_out_counters(const std::string& why, Run& run);

}  // namespace nl::orchestrator
