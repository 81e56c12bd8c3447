#include <algorithm>

#include "analysis/figures/detail/detail.h"

namespace nl::analysis {
namespace {

std::uint32_t stage_number(const Detail& detail, const std::string& name) {
  const auto found = std::find(detail.stages.begin(), detail.stages.end(), name);
  return found == detail.stages.end() ? kNone : static_cast<std::uint32_t>(found - detail.stages.begin());
}

}  // namespace

Spans cited_moments(const Run& run) {
  Spans cited;
  const auto add = [&](std::optional<Ns> start_ns, std::optional<Ns> end_ns) {
    if (start_ns && end_ns && std::find(cited.begin(), cited.end(), std::pair(*start_ns, *end_ns)) == cited.end())
      cited.emplace_back(*start_ns, *end_ns);
  };
  for (const Finding& finding : run.findings)
    for (const FindingEvidence& evidence : finding.evidence) add(evidence.window_start_ns, evidence.window_end_ns);
  for (const StageEntry& stage : run.stages)
    if (stage.activity) add(stage.activity->longest_gap_at_ns, stage.activity->longest_gap_at_ns + stage.activity->longest_gap_ns);
  return cited;
}

void add_run_parts(const Run& run, Detail& detail) {
  detail.unit_stage = stage_number(detail, run.workload.verdict.unit_stage);
  for (const StageEntry& stage : run.stages)
    if (const std::uint32_t number = stage_number(detail, stage.name); number != kNone)
      for (const StageGap& gap : stage.gaps) detail.gaps.push_back({number, stage.wall.count, gap});
}

}  // namespace nl::analysis
