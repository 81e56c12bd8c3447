#pragma once

#include "model/load_report.h"

namespace nl::analysis {

// What a schedule may be late, by p99, before the figures say more of the generator than of the server: a tenth of the mean gap between
// requests, but between 1 and 10 ms.
double most_delay_ns(std::optional<double> rate_per_s);

// Every figure of the requests that were answered, without the warm-ups. Failed requests are counted by their kind alone.
LoadReport load_report(const LoadRun& run, const LoadLimits& limits);

}  // namespace nl::analysis
