#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/staging/found/found.h"
#include "analysis/staging/found/work.h"
#include "model/trace.h"
#include "nvtx/names.h"

// Stages that were found with the workload's own ranges hidden, compared with those ranges.
namespace nl::test {

struct StageScore {
  std::size_t steps = 0, found = 0, boundaries = 0, kinds = 0;  // steps of decoding; begin within one launch; of these, of the right kind
  std::size_t prefills = 0, prefills_found = 0, prefill_boundaries = 0, prefill_kinds = 0;
  double confidence = 0;
};

// A window as places in its thread's sequence of launches.
struct PlacedStage {
  std::string name;
  std::uint32_t thread = kNone;
  std::size_t first = 0, last = 0;
};

class StageComparison {
 public:
  explicit StageComparison(const Trace& trace) : trace_(trace), sequences_(analysis::work_sequences(trace)) {
    for (auto& sequence : sequences_) launches_only(sequence);
  }

  StageScore compare(const std::vector<Range>& truth, const analysis::FoundStages& found) const {
    std::vector<PlacedStage> real, guessed;
    for (const Range& range : truth) {
      const std::string stage = nvtx::stage_of(trace_.strings[range.domain], trace_.strings[range.name]);
      if (stage == "prefill" || stage == "decode_step") add(stage, range.thread, range.start_ns, range.end_ns, real);
    }
    for (const auto& stage : found.stages) add(stage.name, stage.thread, stage.start_ns, stage.end_ns, guessed);
    StageScore score;
    score.confidence = found.origin.confidence;
    for (const PlacedStage& stage : guessed) ++(stage.name == "prefill" ? score.prefills_found : score.found);
    for (const PlacedStage& stage : real) {
      const bool prefill = stage.name == "prefill";
      ++(prefill ? score.prefills : score.steps);
      const PlacedStage* near = nearest(stage, guessed);
      if (near == nullptr) continue;
      ++(prefill ? score.prefill_boundaries : score.boundaries);
      if (near->name == stage.name) ++(prefill ? score.prefill_kinds : score.kinds);
    }
    return score;
  }

 private:
  static void launches_only(analysis::WorkSequence& sequence) {
    std::vector<std::uint32_t> calls;
    for (std::size_t i = 0; i < sequence.size(); ++i)
      if (sequence.symbols[i] != analysis::WorkSequence::kWait) calls.push_back(sequence.calls[i]);
    sequence.calls = std::move(calls);
  }
  void add(const std::string& name, std::uint32_t thread, Ns start, Ns end, std::vector<PlacedStage>& out) const {
    for (const auto& sequence : sequences_) {
      if (sequence.thread != thread) continue;
      const auto place = [&](Ns time) {
        return static_cast<std::size_t>(std::lower_bound(sequence.calls.begin(), sequence.calls.end(), time,
                                                         [&](std::uint32_t call, Ns at) { return trace_.api_calls[call].start_ns < at; }) -
                                        sequence.calls.begin());
      };
      if (place(start) < place(end)) out.push_back({name, thread, place(start), place(end)});
    }
  }
  static const PlacedStage* nearest(const PlacedStage& stage, const std::vector<PlacedStage>& all) {
    for (const PlacedStage& each : all)
      if (each.thread == stage.thread && each.first + 1 >= stage.first && each.first <= stage.first + 1) return &each;
    return nullptr;
  }

  const Trace& trace_;
  std::vector<analysis::WorkSequence> sequences_;
};

inline std::string score_header() {
  return fmt::format("{:<48} {:>6} {:>6} {:>6} {:>6}  {:>8} {:>6} {:>6} {:>6}  {}\n", "capture", "steps", "found", "begin", "kind",
                     "prefills", "found", "begin", "kind", "confidence");
}
inline std::string score_row(const std::string& name, const StageScore& s) {
  return fmt::format("{:<48} {:>6} {:>6} {:>6} {:>6}  {:>8} {:>6} {:>6} {:>6}  {:.2f}\n", name, s.steps, s.found, s.boundaries, s.kinds,
                     s.prefills, s.prefills_found, s.prefill_boundaries, s.prefill_kinds, s.confidence);
}

}  // namespace nl::test
