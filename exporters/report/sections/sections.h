#pragma once

#include <string>
#include <vector>

#include "exporters/report/text/document.h"
#include "model/headline.h"
#include "model/run.h"

// The sections of report.md and report.html. One without blocks has nothing to say.
namespace nl::exporters::report {

Blocks overview(const Run& run);        // status, problems
Blocks headline_tiles(const Run& run);  // of a page: the figures that people quote
std::vector<std::string> facts(const Run& run);

Section first_screen(const Run& run);  // of a page: the median step, what is predicted of it, actions with links
Section words(const Run& run);         // of a page: the sentences of the summary

Section summary(const Run& run);      // the sentences and the actions
Section findings(const Run& run);     // a line each
Section what_if(const Run& run);      // what changes would bring, by a replay of the trace
Section serving(const Run& run);      // the bill of a window of serving; empty: no marks of requests
Section measurement(const Run& run);  // the findings about it
Section stages(const Run& run);
Section budgets(const Run& run);
Section recurring_gaps(const Run& run);  // of the GPU, with what the host ran in them
Section host_code(const Run& run);       // what the host ran while the GPU waited
Section evidence(const Run& run);        // of the findings
Section timeline(const Run& run);
Section activity(const Run& run);
Section efficiency(const Run& run);
Section session(const Run& run);  // of a model file that a backend ran
Section operators(const Run& run);
Section layers(const Run& run);
Section kernels(const Run& run);
Section step_time(const Run& run);  // by kind of kernel, and what would be left of it
Section api(const Run& run);        // CUDA calls
Section overhead(const Run& run);
Section energy(const Run& run);
Section abstentions(const Run& run);
Section capture(const Run& run);
Section environment(const Run& run);
Section setting(const Run& run);  // the same in brief, with what is not known of it
std::vector<std::pair<std::string, std::string>> software_versions(
    const Run& run);  // Driver, CUDA, PyTorch, Engine, nsys, ncu; empty: not known
Section import_stats(const Run& run);

Blocks counters(const Run& run);        // a part of the stages
Blocks late_launches(const Run& run);   // a part of the budgets: what the host did while the GPU waited for launches
Blocks sampled_steps(const Run& run);   // a part of the budgets; nothing where all steps were traced
Blocks gpus(const Run& run);            // a part of the budgets; nothing for one GPU that talks to no other
Blocks ranks(const Run& run);           // a part of the budgets; nothing where one capture has all
Blocks rank_budgets(const Run& run);    // a part of the ranks: what their GPUs did
Blocks rank_matrix(const Run& run);     // a part of the ranks: how late each was in each step
Blocks rank_transfers(const Run& run);  // a part of the ranks: bandwidth of collectives, experts, sends and receives
Blocks communication(const Run& run);   // empty where there is nothing to say
Blocks iterations(const Run& run);      // empty where there is nothing to say
FlameChart flame_graph(const Run& run, const StageEntry& stage);  // of its waits for launches; without frames: no stacks
Blocks roofline(const Run& run);                                  // a part of the efficiency

// The columns of a kernel, once: report.md and report.html show them all, the data of the page its counters, kernels.md and the
// summary for stakeholders pick theirs by key.
struct KernelRow {
  const KernelEntry& kernel;
  WorkingKernel working;              // what its time, share and calls are of: the measured windows, or the whole capture
  const NcuSample* sample = nullptr;  // that stands for it; nullptr: none was measured
};
KernelRow kernel_row(const Run& run, const WorkingKernel& working);
ColumnsOf<KernelRow> counter_columns();
ColumnsOf<KernelRow> kernel_columns(const Run& run);
Paragraph no_kernels(const Run& run);  // why there are none

bool several_gpus(const std::vector<KernelEntry>& kernels);
Text activity_note(const Run& run);  // why there are no curves; empty: no GPU was seen

}  // namespace nl::exporters::report
