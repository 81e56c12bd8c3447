#pragma once

#include <cstddef>

#include "analysis/figures/detail/stack_samples.h"
#include "analysis/staging/iterations.h"
#include "analysis/trace/covered_time.h"
#include "model/detail.h"
#include "model/run.h"
#include "model/trace.h"

namespace nl::analysis {

struct DetailLimits {
  std::size_t slices = 150'000;  // in all exact windows together
  std::uint32_t buckets = 4096;
  std::size_t steps = 20'000;
  std::size_t sums = 60'000;  // of kernels by bucket, and of operators
  SampleLimits host;
};

// What report.html explores. `cited`: stretches of time that must be among the exact windows, the most important first.
Detail make_detail(const Trace& trace, const WarmupRule& warmup, const Spans& cited, const DetailLimits& limits = {});

// Adds what the analysis of the run knows: its unit, and which idle time comes again.
void add_run_parts(const Run& run, Detail& detail);

// The moments that the run's findings and figures refer to.
Spans cited_moments(const Run& run);

}  // namespace nl::analysis
