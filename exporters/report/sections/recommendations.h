#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "exporters/report/text/document.h"
#include "model/run.h"

namespace nl::exporters::report {

// A finding to act on, and others that must not read as further wins: with the same cause, of the same stage, kernel or operator
// with a gain of their own, which overlaps, or with the very same first suggestion. Refers to the run's findings.
struct Recommendation {
  const Finding* finding = nullptr;
  std::vector<const Finding*> also;
};

inline constexpr std::size_t kMostActions = 3;

// In the order of findings_to_work_on().
std::vector<Recommendation> recommendations(const Run& run, std::size_t most);

// The actions of a summary, numbered: what to do, what it saves, why, and on request the first suggestion for engineers.
List action_list(const Run& run, bool for_engineers);

// The first of them; nullptr where none asks for a change.
const Finding* first_to_work_on(const Run& run);

// Why there is nothing to recommend. Rules that were never evaluated give no clean bill of health.
std::string no_advice(const Run& run);

// What is wrong in everyday words; the message where the rule has no such words.
std::string plain_text(const Finding& finding);
// What to do, with its stage and without a full stop: "Use CUDA graphs for each step of the answer (decode_step)". Empty: the rule does not say.
std::string action_text(const Run& run, const Finding& finding);
// "saves at most 3.8 ms of 4.3 ms per token"; of other stages per window, else of the measured time. Empty: not known.
std::string worth_text(const Run& run, const Finding& finding);

}  // namespace nl::exporters::report
