#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "exporters/report/text/document.h"
#include "model/headline.h"
#include "model/run.h"

namespace nl::exporters::report {

// At most five sentences for people who never saw a profiler: that tracing hides the truth, where it does; how fast it is, whether that is good, what limits it,
// what to do first, how much energy it takes and how large the profiling overhead was.
std::vector<std::string> executive_summary(const Run& run);

// Where tracing adds more than the limit to a step: that it does, and by how much the collector would. It goes before all figures. Empty: it does not,
// or that is not known.
std::string tracing_sentence(const Run& run);

// The stage (or phase) that takes most of the measured time.
struct MainStage {
  std::string name;
  std::optional<double> share;  // of the measured span
  std::optional<Budget> budget;
  double mean_ns = 0;  // of one window; 0: not known
};
std::optional<MainStage> main_stage(const Run& run);

// How a median is told beside a mean: by what it is.
inline std::string usual_step_text(const std::string& median) { return "half of the steps take at most " + median; }

// Two of the sentences: how fast it is, and where that time goes against what this GPU can do. Empty: nothing to say.
std::string speed_sentence(const Run& run);
std::string quality_sentence(const Run& run, const std::optional<MainStage>& main);

std::string plain_stage(const Run& run, const std::string& stage);  // "writing the answer (decode)"

// The nodes of a model file, of a run of it or of a profile that its backend wrote; nullptr: there are none.
const OperatorStep* model_step(const Run& run);
std::string providers_sentence(const Run& run);  // "All 51 nodes run in CPUExecutionProvider."; empty: not known

// Of a run of a model file whose iterations were timed: sentences, and the figures to see first.
inline bool has_iterations(const Run& run) {
  return run.session && run.session->unprofiled.count > 0 && run.session->unprofiled.median_ns > 0;
}
std::string iteration_speed(const Run& run, const std::string& where);
std::string operator_shares(const Run& run);  // empty: no operator was recorded
std::string recording_cost(const Run& run);
std::vector<Tile> session_tiles(const Run& run);

// One sentence's worth of a longer text: no line breaks, no full stop inside or at its end, cut at a blank behind the
// longest.
std::string phrase(const std::string& text, std::size_t longest = 140);

// The figures that people quote, and what reports call them.
struct Headline : HeadlineFigure {
  std::string what;  // "Prefill time", "Output tokens per second, all 4 sequences"
};

Headline first_token(const Run& run);
Headline per_token(const Run& run);
Headline output_rate(const Run& run);

// "all 4 sequences", "one sequence"; empty: there is one.
std::string whose_tokens(const Run& run);

// A finding to act on, and others that must not read as further wins: with the same cause, of the same kernel or operator with a gain of their
// own, or with the very same first suggestion. Two causes in one stage are two actions. Refers to the run's findings.
struct Recommendation {
  const Finding* finding = nullptr;
  std::vector<const Finding*> also;
};

inline constexpr std::size_t kMostActions = 3;

// In the order of findings_to_work_on().
std::vector<Recommendation> recommendations(const Run& run, std::size_t most);

// The actions of a summary, numbered: what to do, what it saves, why, and on request the first suggestion for engineers.
List action_list(const Run& run, bool for_engineers);

// "It saves at most 3.8 ms of 4.3 ms per token, 79 % of the measured time."
std::string worth_sentence(const Run& run, const Finding& finding);

// The first finding to work on; nullptr where none asks for a change.
const Finding* first_to_work_on(const Run& run);

// Why there is nothing to recommend. Rules that were not evaluated do not show that the run is fine.
std::string no_advice(const Run& run);

// What is wrong in everyday words; the message where the rule has no such words.
std::string plain_text(const Finding& finding);
// What to do, with its stage and without a full stop: "Use CUDA graphs for each step of the answer (decode_step)". Empty: the rule does not say.
std::string action_text(const Run& run, const Finding& finding);
// "saves at most 3.8 ms of 4.3 ms per token"; of other stages per window, else of the measured time. Where it is predicted: "saves about
// 39 % of each decode_step, between 31 and 45 %". Empty: not known.
std::string worth_text(const Run& run, const Finding& finding);

}  // namespace nl::exporters::report
