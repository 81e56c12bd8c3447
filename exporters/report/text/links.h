#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/headline.h"
#include "model/run.h"

// Where a page shows things: the ids of rows and points, and the links to them.
namespace nl::exporters::report {

// A page lists so many of each; the rest is summed below.
inline constexpr std::size_t kListedKernels = 500, kListedOperators = 500, kListedPoints = 200;

// The kernels that a page has rows of, in their order.
std::vector<WorkingKernel> listed_kernels(const Run& run);

std::string stage_id(std::string_view stage);  // "stage-decode_step": its row among the stages
// Its rows elsewhere. A page has a stage's bar of the budget where it has one, its row of GPU time where that was captured, and so on.
std::string budget_id(std::string_view stage);
std::string gpu_time_id(std::string_view stage);
std::string counters_id(std::string_view stage);
std::string limits_id(std::string_view stage);
std::string host_code_id(std::string_view stage);
std::string gap_id(std::string_view stage, std::size_t index);  // "gap-decode_step-1"
std::string kernel_id(std::size_t index);                       // of Run::kernels, from 0: "kernel-1"
std::string operator_id(std::size_t index);                     // of the first table: "operator-1"
std::string roofline_id(std::size_t index);                     // "roofline-1"
std::string finding_id(std::size_t index);                      // "finding-1"

// The row, point or section that shows what a JSON pointer into run.json stands for: "/kernels/2/ncu/0" is "#kernel-3"; empty where a page has none.
std::string link_to(const Run& run, std::string_view pointer);
// "#t=1200,3400": that time of the capture, on the timeline. Empty where the page has none, or the evidence names none.
std::string link_to_moment(const Run& run, Ns start_ns, Ns end_ns);
std::string link_to_moment(const Run& run, const FindingEvidence& evidence);
// The moment that shows a finding: that of its evidence, else of the stage that it is about. Empty: there is none.
std::string link_to_moment(const Run& run, const Finding& finding);

// Whether the page has a timeline that shows anything.
bool shows_timeline(const Run& run);

}  // namespace nl::exporters::report
