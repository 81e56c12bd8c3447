#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/budget_bins.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/links.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

constexpr std::uint64_t kFewGapSamples = 4;

const char* gap_text(GapKind kind) {
  switch (kind) {
    case GapKind::kRecurring: return "recurring";
    case GapKind::kOccasional: return "occasional, long";
    case GapKind::kBetweenLaunches: break;
  }
  return "between launches";
}

// The bin with most of it.
const char* main_bin(const StageGap& gap) {
  const char* label = kNoValue;
  Ns most = 0;
  for (const BudgetBin& bin : kBudgetBins)
    if (gap.budget.*bin.time > most) {
      most = gap.budget.*bin.time;
      label = bin.label;
    }
  return label;
}

Cell work_cell(const std::string& name) {
  if (name.empty()) return Cell(kNoValue);
  Cell cell = code_cell(short_kernel_name(name));
  cell.tip = name;
  return cell;
}

Cell blame_cell(const StageGap& gap) {
  if (!gap.host || gap.host->samples < kFewGapSamples) return Cell(kNoValue);
  Cell cell = text_cell(blame_text(*gap.host));
  cell.tip = fmt::format("{} of {}", gap.host->function ? gap.host->function_samples : gap.host->kind_samples,
                         plural(gap.host->samples, "sample"));
  return cell;
}

// "4.1 ms in every step: audit_tokens (serve.py:10), called by Bookkeeper.put."
std::string gap_sentence(const StageEntry& stage, const StageGap& gap) {
  const std::string each = time_text(gap.mean_ns);
  const std::string where =
      gap.windows >= stage.wall.count ? "in every window" : fmt::format("in {} of {} windows", gap.windows, stage.wall.count);
  return fmt::format("{} {}, {} of the time: {}.", each, where, share_text(gap.wall_share), blame_text(*gap.host));
}

void add_gaps(const Run& run, const StageEntry& stage, Blocks& blocks) {
  Table table{"Recurring gaps", texts({"Gap", "The host runs"}) + numbers({"per window"}) + numbers({"median"}, kWide) +
                                    numbers({"Windows"}) + numbers({"Gaps"}, kWide) + numbers({"%"}) +
                                    texts({"Mostly", "Work before", "Work after"})};
  std::vector<std::string> sentences;
  for (const StageGap& gap : stage.gaps) {
    table.rows.push_back({gap_text(gap.kind), blame_cell(gap), time_cell(gap.mean_ns),
                          gap.median_ns ? time_cell(*gap.median_ns) : Cell(kNoValue), count_cell(gap.windows), count_cell(gap.count),
                          share_cell(gap.wall_share), main_bin(gap), work_cell(gap.before), work_cell(gap.after)});
    table.rows.back().id = gap_id(stage.name, table.rows.size() - 1);
    if (gap.kind == GapKind::kRecurring && gap.host && gap.host->samples >= kFewGapSamples) sentences.push_back(gap_sentence(stage, gap));
  }
  blocks.emplace_back(Heading{stage_title(run, stage.name)});
  if (!sentences.empty()) blocks.emplace_back(notes(sentences));
  blocks.emplace_back(std::move(table));
}

}  // namespace

Section recurring_gaps(const Run& run) {
  Section out{"gaps", "Gaps", "Recurring gaps of the GPU"};
  for (const StageEntry& stage : run.stages)
    if (shows_gaps(run, stage)) add_gaps(run, stage, out.blocks);
  if (out.blocks.empty()) return out;
  out.blocks.insert(out.blocks.begin(),
                    Paragraph{"The GPU's idle time in the windows of a stage. Gaps between the same work at the same place of the windows "
                              "are one; one that at least half of the windows have, and that is long against a launch, is recurring."});
  return out;
}

}  // namespace nl::exporters::report
