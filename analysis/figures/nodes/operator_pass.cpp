#include "analysis/figures/nodes/operator_pass.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/figures/nodes/node_steps.h"
#include "analysis/figures/operators/dtypes.h"
#include "analysis/figures/operators/layers.h"
#include "analysis/figures/operators/operator_work.h"
#include "analysis/figures/operators/operators.h"
#include "analysis/figures/operators/steps.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

// "3 prefill and 9 decode_step windows"
std::string windows_text(const std::vector<OperatorWork::Stage>& stages) {
  std::string text;
  for (std::size_t i = 0; i < stages.size(); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : i + 1 == stages.size() ? " and " : ", ", stages[i].windows, stages[i].name);
  return text + (stages.size() == 1 && stages[0].windows == 1 ? " window" : " windows");
}

// How much longer its steps take than the same steps of the clean pass.
double slowdown(const std::vector<OperatorWork::Stage>& stages) {
  double recorded_ns = 0, clean_ns = 0;
  for (const OperatorWork::Stage& stage : stages) {
    recorded_ns += stage.wall_ns * stage.weight;
    clean_ns += stage.clean->wall_ns;
  }
  return clean_ns > 0 ? recorded_ns / clean_ns : 1;
}

Remark scaling_of(const OperatorWork& work, double explained_share) {
  const double slower = slowdown(work.stages());
  return {Code::kOperatorsScaled,
          {windows_text(work.stages()), fmt::format("{:.1f}", 100 * explained_share),
           work.recorded_share() >= 0.0005
               ? fmt::format(" Kernels that the main trace does not have keep their recorded times, {:.1f} % of the GPU time.",
                             100 * work.recorded_share())
               : "",
           slower >= 1.05 ? fmt::format(", where these steps take {:.1f} times as long", slower) : ""}};
}

void add_dtypes(std::span<const OperatorDtypes> recorded, OperatorTable& table) {
  const DtypeTable dtypes(recorded);
  for (OperatorEntry& entry : table.entries)
    for (OperatorShape& shape : entry.shapes) shape.dtypes = dtypes.of(entry.name, shape.text);
}

void take_layers(LayerTable table, OperatorFigures& figures) {
  figures.layers = std::move(table.layers);
  figures.layers_note = std::move(table.note);
}

void note_unscaled(const Trace& pass, OperatorFigures& figures) {
  add_operator_table_from(pass, "pytorch ranges", "", figures);
  figures.operators.back().note = text_of({Code::kOperatorsUnscaled});
  std::rotate(figures.operators.begin(), figures.operators.end() - 1, figures.operators.end());
  if (figures.layers.empty()) take_layers(layer_table(pass), figures);
}

}  // namespace

void add_operator_pass(const StagedTrace& clean, const Trace& pass, std::span<const OperatorDtypes> dtypes, OperatorFigures& figures) {
  const Catalogue catalogue = catalogue_of(pass, kTorchRanges);
  if (catalogue.items.groups == 0) return figures.notes.push_back({Code::kNoOperators, {}, "operators/"});
  const StepWindows clean_windows(clean);
  StepWindows windows(StagedTrace(pass, {WarmupRule::Mode::kNone, 0, 1}));
  windows.take_warmup_from(clean_windows);
  const CleanTimes times(clean.trace, clean_windows);
  const OperatorWork work(pass, windows, catalogue.items, times);
  if (work.stages().empty()) return note_unscaled(pass, figures);
  const RangeTally tally = work.tally(catalogue.items);
  OperatorTable table = operator_table(pass, kTorchRanges, catalogue, tally, {});
  table.scaled = true;
  add_dtypes(dtypes, table);
  table.note = text_of(scaling_of(work, table.gpu_share.value_or(0)));
  figures.operators.insert(figures.operators.begin(), std::move(table));
  figures.operators_note.clear();
  if (figures.layers.empty()) take_layers(layer_table(pass, [&](const RangeItems& items) { return work.tally(items); }), figures);
  figures.operator_steps = operator_steps({pass, windows, kTorchRanges, catalogue,
                                           [&](const std::string& stage, const WorkRow& row) { return work.time_of(stage, row); }, dtypes});
}

namespace {

std::vector<OperatorStep> steps_of_trace(const StagedTrace& staged) {
  const Trace& trace = staged.trace;
  if (trace.session) return node_steps(trace);
  RangeSource source = kNoSource;
  for (std::size_t i = 0; i < trace.ranges.size() && source != kTorchRanges; ++i)
    source = std::min(source, classify_range(trace, trace.ranges[i]).source);
  if (source >= kOtherRanges) return {};
  StepWindows windows(staged);
  if (windows.all().empty() && source == kKinetoRanges) windows = profile_windows(trace);
  if (windows.all().empty()) return {};
  const Catalogue catalogue = catalogue_of(trace, source);
  return operator_steps({trace, windows, source, catalogue, {}, trace.dtypes});
}

}  // namespace

void add_operator_steps(const StagedTrace& staged, const std::string& file, OperatorFigures& figures) {
  for (OperatorStep& step : steps_of_trace(staged)) {
    step.file = file;
    figures.operator_steps.push_back(std::move(step));
  }
}

}  // namespace nl::analysis
