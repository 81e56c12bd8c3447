#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/run.h"

// The figures that people quote: of the unprofiled passes where there are any, with the traced ones beside them.
namespace nl {

struct HeadlineFigure {
  std::optional<double> traced, unprofiled;  // nanoseconds, or tokens per second
  const TimeSummary* times = nullptr;        // what the traced one is the mean of
  std::optional<double> best() const { return unprofiled ? unprofiled : traced; }
};

// Time to first token where a request's arrival is known, else the time of prefill.
HeadlineFigure first_token_figure(const Run& run);
HeadlineFigure prefill_figure(const Run& run);
HeadlineFigure per_token_figure(const Run& run);
HeadlineFigure output_rate_figure(const Run& run);
// Of decoding, else of its steps.
std::optional<double> joules_per_token(const Run& run);

// Those that ask for a change of the workload, what is worth the most first: none of severity info, none about the measurement, none
// that saves less than 1 % of the measured time.
std::vector<const Finding*> findings_to_work_on(const Run& run);

// A part of the trace is missing: what is missing would look like waiting, and sums say nothing of the run.
bool is_incomplete(const Run& run);

const StageEntry* stage_named(const Run& run, std::string_view name);
// The median of the unprofiled passes, each by its median window; nothing where there is none.
std::optional<double> unprofiled_ns(const StageSlowdown& slowdown);
std::optional<double> unprofiled_ns(const Run& run, const StageEntry& stage);

}  // namespace nl
