#pragma once

#include <string>

#include "model/headline.h"

// The figures that people quote, and what reports call them.
namespace nl::exporters::report {

struct Headline : HeadlineFigure {
  std::string what;  // "Prefill time", "Output tokens per second, all 4 sequences"
};

Headline first_token(const Run& run);
Headline per_token(const Run& run);
Headline output_rate(const Run& run);

// The batch is not known, and a step counts as one token.
bool counted_as_one(const Run& run);

// "all 4 sequences", "one sequence"; empty: there is one.
std::string whose_tokens(const Run& run);

}  // namespace nl::exporters::report
