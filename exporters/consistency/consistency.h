#pragma once

#include <string>
#include <vector>

#include "model/run.h"

// Whether a run and what its reports say tell one story.
namespace nl::exporters {

struct Contradiction {
  std::string where;  // a JSON pointer into run.json, or the sentence
  std::string what;
};

// - Parts are not above their whole, and add up to it where they must: budgets, phases, gaps, stages of kernels, savings.
// - What findings and sentences refer to is there.
// - Each figure of the summary stands in run.json, or is one figure of it divided by another of the same entry.
// - The summary gives one time of a stage, not its mean here and its median there.
// Empty: no contradiction.
std::vector<Contradiction> contradictions(const Run& run);

}  // namespace nl::exporters
