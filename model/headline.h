#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/run.h"

// What people quote of a run: its figures (of the unprofiled passes where there are any, with the traced ones beside them), findings and
// kernels.
namespace nl {

// The entry that matches, or nullptr. Tables ask for stage after stage in their order, and a run may have ten thousand: the search begins at
// `next`, where the last one ended, and goes round. Entries that match differ in no more than their place.
template <class List, class Match>
auto found_from(const List& list, std::size_t& next, Match match) -> const typename List::value_type* {
  const std::size_t count = list.size(), begin = next < count ? next : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = begin + i < count ? begin + i : begin + i - count;
    if (match(list[at])) return &list[next = at];  // several columns ask for the same one
  }
  return nullptr;
}

struct HeadlineFigure {
  std::optional<double> traced, unprofiled;  // nanoseconds, or tokens per second
  const TimeSummary* times = nullptr;        // what the traced one is the mean of
  std::optional<double> predicted = {};      // where there were no unprofiled passes: what a replay says of them
  std::optional<double> bare() const { return unprofiled ? unprofiled : predicted; }
  std::optional<double> best() const { return bare() ? bare() : traced; }
};

// Time to first token where a request's arrival is known, else the time of prefill.
HeadlineFigure first_token_figure(const Run& run);
HeadlineFigure prefill_figure(const Run& run);
HeadlineFigure per_token_figure(const Run& run);
HeadlineFigure output_rate_figure(const Run& run);
// The energy of the stage decode, or of its steps where decode has no value.
std::optional<double> joules_per_token(const Run& run);
std::optional<double> kwh_per_million_tokens(const Run& run);  // the same, as bills have it

// The findings that ask for a change of the workload, the most valuable first. Left out are those of severity info, those about the
// measurement, and those that save less than 1 % of the measured time.
std::vector<const Finding*> findings_to_work_on(const Run& run);

// True for programs that answer prompts: only of those prompts and tokens are spoken of. Until format 3.3 a run does not tell its kind.
bool generates(const Run& run);

// True where a part of the trace is missing: that part would look like waiting, and sums would be wrong.
bool is_incomplete(const Run& run);

const StageEntry* stage_named(const Run& run, std::string_view name);
// The stage whose windows are the program's units of work, else the one that takes the longest; empty: there is none.
std::string stage_to_predict(const Run& run);
// The median over the unprofiled passes of their median windows; nothing where there are no such passes.
std::optional<double> unprofiled_ns(const StageSlowdown& slowdown);
std::optional<double> unprofiled_ns(const Run& run, const StageEntry& stage);

// A stage's window without the profiler: of unprofiled passes, else as a replay predicts it, where it knows what the tracer added. Nothing where
// neither is known, or where the prediction is a matter of twice or half.
struct BareWindow {
  double ns = 0;
  bool predicted = false;
  double low_ns = 0, high_ns = 0;  // of a prediction
};
std::optional<BareWindow> bare_window(const Run& run, const StageEntry& stage);

struct WorkingKernel {
  std::size_t index = 0;  // in Run::kernels
  Ns time_ns = 0;         // in measured windows, and its launches there
  std::uint64_t calls = 0;
  double measured_share = 0;     // of the time of its GPU's kernels there
  std::size_t gpus = 1;          // that run it and are alike,
  Ns least_ns = 0, most_ns = 0;  // and what it takes on them
};

// The kernels of the measured windows, each once: of GPUs that are alike, the entry of the one on which it takes the longest, or about as long and
// its counters were measured. What a program runs once, while it starts and warms up, does not belong to a step, however
// long it takes.
struct WorkingKernels {
  std::vector<WorkingKernel> list;  // the most time first
  bool measured = false;            // false: no launch lies in a measured window; all kernels, over the whole capture
  std::size_t left_out = 0;         // kernels, each once, that run only in warm-up and outside of the measured windows,
  Ns left_out_ns = 0;               // and their time
};
WorkingKernels working_kernels(const Run& run);

}  // namespace nl
