#pragma once

#include <optional>
#include <string>

#include "model/run.h"

// The figures that people quote: of the unprofiled passes where there are any, with the traced ones beside them.
namespace nl::exporters::report {

struct Headline {
  std::string what;                          // "Prefill time", "Output tokens per second, all 4 sequences"
  std::optional<double> traced, unprofiled;  // nanoseconds, or tokens per second
  const TimeSummary* times = nullptr;        // what the traced one is the mean of
  std::optional<double> best() const { return unprofiled ? unprofiled : traced; }
};

// Time to first token where a request's arrival is known, else the time of prefill.
Headline first_token(const Run& run);
Headline per_token(const Run& run);
Headline output_rate(const Run& run);

// "all 4 sequences", "one sequence"; empty: there is one.
std::string whose_tokens(const Run& run);

}  // namespace nl::exporters::report
