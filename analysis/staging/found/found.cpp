#include "analysis/staging/found/found.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/staging/found/sources.h"
#include "analysis/staging/stage_table.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

std::string seconds(Ns time_ns) { return fmt::format("{:.3f} s", static_cast<double>(time_ns) / 1e9); }

void take_steady_parts(const Trace& trace, FoundStages& found) {
  found.origin = {StageSource::kInferred, 1};
  for (const SteadyPart& part : find_steady_parts(trace)) {
    found.stages.push_back({part.start_ns, part.end_ns, part.thread, std::string(key_of(StageKind::kCapture)), {}});
    found.notes.push_back({part.warmed_up ? Code::kSteadyPart : Code::kWholeCapture, {seconds(part.start_ns), seconds(part.end_ns)}});
  }
}

}  // namespace

bool has_found_stages(const Trace& trace) {
  return std::any_of(trace.ranges.begin(), trace.ranges.end(),
                     [&](const Range& range) { return trace.strings[range.domain] == kStageDomain; });
}

FoundStages find_stages(const Trace& trace, const StageMap& map) {
  FoundStages mapped;
  if (!StageTable(trace).stages().empty()) {  // it marks some itself
    if (!map.empty()) mapped.notes.push_back({Code::kMapNotUsed});
    return mapped;
  }
  if (!map.empty()) mapped = stages_of_map(trace, map);
  if (!mapped.stages.empty()) return mapped;
  FoundStages found = stages_of_engine(trace);
  const bool whole = find_first(trace.stats.notes, kCaptureIncomplete) == nullptr;  // the beginning is warm-up, or less
  if (found.stages.empty() && whole) found = infer_stages(trace);
  if (found.stages.empty()) take_steady_parts(trace, found);
  found.notes.insert(found.notes.begin(), mapped.notes.begin(), mapped.notes.end());
  return found;
}

void add_found_stages(Trace& trace, const StageMap& map) {
  if (has_found_stages(trace)) return;
  FoundStages found = find_stages(trace, map);
  trace.stats.notes.insert(trace.stats.notes.end(), found.notes.begin(), found.notes.end());
  if (found.stages.empty()) return;
  trace.stage_origin = found.origin;
  const StringId domain = trace.strings.intern(kStageDomain);
  for (const FoundStage& stage : found.stages) {
    Range range;
    range.start_ns = stage.start_ns;
    range.end_ns = stage.end_ns;
    range.name = trace.strings.intern(stage.name);
    range.domain = domain;
    range.thread = stage.thread;
    range.payload = stage.tokens;
    trace.ranges.push_back(range);
  }
}

}  // namespace nl::analysis
