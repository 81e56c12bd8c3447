#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/run.h"

namespace nl::exporters::report {

// A finding to act on, and others that must not read as further wins: of the same stage, kernel or operator with a gain
// of their own, which overlaps, or with the very same first suggestion. Refers to the run's findings.
struct Recommendation {
  const Finding* finding = nullptr;
  std::vector<const Finding*> also;
};

// The one that is worth the most first (gain × confidence); those without a figure, or with less than 1 %, last, by
// severity and confidence. No findings of severity info.
std::vector<Recommendation> recommendations(const Run& run, std::size_t most);

// Of the most severe findings the one that is worth the most; nullptr where none asks for a change.
const Finding* first_to_work_on(const Run& run);

// Why there is nothing to recommend. Rules that were never evaluated give no clean bill of health.
std::string no_advice(const Run& run);

// What is wrong and what to do in everyday words; the message where the rule has no such words.
std::string plain_text(const Finding& finding);

}  // namespace nl::exporters::report
