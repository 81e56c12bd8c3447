#include "model/comparison.h"

#include <algorithm>

#include "model/words.h"

namespace nl {
namespace {

bool told(const CompareLine& line) { return line.verdict == CompareVerdict::kImproved || line.verdict == CompareVerdict::kRegressed; }

bool is_window(const CompareLine& line) {
  return line.figure == CompareFigure::kWall || line.figure == CompareFigure::kUnprofiledWall || line.stage == kWholeCapture;
}

// A figure of the run that says again what a stage says: the time per token of decoding.
bool same_news(const CompareLine& stage, const CompareLine& figure) {
  const bool of_prompt = figure.figure == CompareFigure::kTtft || figure.figure == CompareFigure::kPrefill;
  return stage.verdict == figure.verdict && is_decode(stage.stage) != of_prompt;
}

}  // namespace

std::vector<const CompareLine*> headline_changes(const Comparison& comparison) {
  std::vector<const CompareLine*> found;
  const auto take = [&](const CompareLine& line) {
    const auto same = std::find_if(found.begin(), found.end(), [&](const CompareLine* each) { return each->stage == line.stage; });
    if (same == found.end()) found.push_back(&line);
    else if (line.figure == CompareFigure::kUnprofiledWall) *same = &line;
  };
  for (const bool main : {true, false})
    for (const CompareLine& line : comparison.stages.lines)
      if (told(line) && is_window(line) && (line.stage == comparison.main_stage) == main) take(line);
  const std::vector<const CompareLine*> stages = found;
  for (const CompareLine& line : comparison.headline.lines)
    if (told(line) && std::none_of(stages.begin(), stages.end(), [&](const CompareLine* stage) { return same_news(*stage, line); }))
      found.push_back(&line);
  return found;
}

bool any_regressed(const Comparison& comparison) {
  const auto changes = headline_changes(comparison);
  return comparison.verdict == CompareVerdict::kRegressed ||
         std::any_of(changes.begin(), changes.end(), [](const CompareLine* line) { return line->verdict == CompareVerdict::kRegressed; });
}

}  // namespace nl
