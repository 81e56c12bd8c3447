#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exporters/report/text/document.h"
#include "model/run.h"

namespace nl::exporters::report {

// At most five sentences for people who never saw a profiler: how fast it is, whether that is good, what limits it,
// what to do first, what it costs.
std::vector<std::string> executive_summary(const Run& run);

// The stage (or phase) that takes most of the measured time.
struct MainStage {
  std::string name;
  std::optional<double> share;  // of the measured span
  std::optional<Budget> budget;
  double mean_ns = 0;  // of one window; 0: not known
};
std::optional<MainStage> main_stage(const Run& run);

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

}  // namespace nl::exporters::report
