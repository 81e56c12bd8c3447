#include "analysis/figures/nodes/operator_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/figures/nodes/session_figures.h"
#include "analysis/figures/operators/layers.h"
#include "analysis/figures/operators/operator_work.h"
#include "analysis/figures/operators/range_tally.h"
#include "analysis/figures/operators/steps.h"
#include "analysis/figures/operators/types.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

// Where a node ran: its range, and the call that stands for it, begin at that time.
using Starts = std::map<Ns, std::size_t>;  // → call of the step

Starts starts_of(const ModelSession& session, const OperatorStep& step) {
  std::map<std::tuple<std::string_view, std::string_view, std::optional<std::uint64_t>>, std::size_t> calls;
  for (std::size_t i = 0; i < step.calls.size(); ++i)
    calls.emplace(std::tuple(std::string_view(step.calls[i].node), std::string_view(step.calls[i].name), step.calls[i].node_index), i);
  Starts starts;
  for (const NodeRun& run : session.runs) {
    if (run.iteration != step.window || run.node >= session.nodes.size()) continue;
    const SessionNode& node = session.nodes[run.node];
    if (const auto call = calls.find({node.name, node.type, node.index}); call != calls.end()) starts[run.start_ns] = call->second;
  }
  return starts;
}

void add_kernel(const std::string& name, Ns duration_ns, OperatorCall& call) {
  const auto same =
      std::find_if(call.kernels.begin(), call.kernels.end(), [&](const OperatorKernel& kernel) { return kernel.name == name; });
  OperatorKernel& kernel = same != call.kernels.end() ? *same : call.kernels.emplace_back(OperatorKernel{name, 0, 0});
  ++kernel.calls;
  kernel.total_ns += duration_ns;
}

void add_kernels(const Trace& trace, OperatorStep& step) {
  const Starts starts = starts_of(*trace.session, step);
  visit_work(trace, [&](const WorkRow& row) {
    const auto start = row.launch.thread == kNone ? starts.end() : starts.find(row.launch.start_ns);
    if (start != starts.end()) add_kernel(name_of_work(trace, row.name), row.duration_ns, step.calls[start->second]);
  });
  for (OperatorCall& call : step.calls) {
    std::stable_sort(call.kernels.begin(), call.kernels.end(),
                     [](const OperatorKernel& a, const OperatorKernel& b) { return a.total_ns > b.total_ns; });
    call.type = type_of_call(call);
  }
}

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

bool has_gpu_times(const OperatorStep& step) {
  return std::any_of(step.calls.begin(), step.calls.end(), [](const OperatorCall& call) { return call.gpu_ns.has_value(); });
}

bool same_step(const OperatorStep& a, const OperatorStep& b) {
  return a.stage == b.stage && a.calls_left_out == b.calls_left_out && same_calls(a, b);
}

void take_gpu_times(OperatorStep& nodes, const OperatorStep& traced) {
  for (std::size_t i = 0; i < nodes.calls.size(); ++i) {
    nodes.calls[i].gpu_ns = traced.calls[i].gpu_ns;
    nodes.calls[i].gpu_times = traced.calls[i].gpu_times;
    nodes.calls[i].kernels = traced.calls[i].kernels;
  }
  nodes.gpu_outside_ns = traced.gpu_outside_ns;
}

bool has_gpu_times(const OperatorTable& table) { return table.cuda_ns.has_value(); }

void add_source(const OperatorSource& source, const StagedTrace& staged, const WarmupRule& warmup, OperatorFigures& figures) {
  if (source.records) return add_operator_records(*source.records, figures);
  if (source.operator_pass) {
    add_operator_pass(staged, source.trace, source.dtypes, figures);
  } else {
    add_operator_table_from(source.trace, source.format, source.file, figures);
    if (figures.operator_steps.empty() || source.trace.session) add_operator_steps(StagedTrace(source.trace, warmup), source.file, figures);
  }
  for (const Remark& note : source.trace.stats.notes) figures.notes.push_back({note.code, note.details, source.file});
  add_damage(figures.rows_damaged, source.trace.stats.rows_damaged, source.format);
}

}  // namespace

std::vector<OperatorStep> node_steps(const Trace& trace) {
  std::vector<OperatorStep> steps = steps_of(*trace.session);
  if (trace.has_kernel_data || trace.has_mem_data)
    for (OperatorStep& step : steps) add_kernels(trace, step);
  return steps;
}

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

void add_operator_steps(const StagedTrace& staged, const std::string& file, OperatorFigures& figures) {
  for (OperatorStep& step : steps_of_trace(staged)) {
    step.file = file;
    figures.operator_steps.push_back(std::move(step));
  }
}

void add_kernels_to_nodes(const std::string& backend, OperatorFigures& figures) {
  bool joined = false;
  auto& steps = figures.operator_steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].source != backend || steps[i].calls.empty() || has_gpu_times(steps[i])) continue;
    const auto traced = std::find_if(steps.begin(), steps.end(), [&](const OperatorStep& other) {
      return other.source != backend && has_gpu_times(other) && same_step(steps[i], other);
    });
    if (traced == steps.end()) continue;
    take_gpu_times(steps[i], *traced);
    if (traced < steps.begin() + static_cast<std::ptrdiff_t>(i)) --i;
    steps.erase(traced);
    joined = true;
  }
  const bool sums = std::any_of(figures.operators.begin(), figures.operators.end(),
                                [&](const OperatorTable& table) { return table.source != backend && has_gpu_times(table); });
  if (joined && sums)
    std::erase_if(figures.operators, [&](const OperatorTable& table) { return table.source == backend && !has_gpu_times(table); });
}

OperatorFigures operator_figures(const Evidence& evidence, const StagedTrace& staged, const WarmupRule& warmup) {
  OperatorFigures figures;
  add_operators(staged.trace, {}, figures);
  take_layers(layer_table(staged.trace), figures);
  add_operator_steps(staged, "", figures);
  if (evidence.session) add_operator_records({table_of(*evidence.session), steps_of(*evidence.session)}, figures);
  for (const OperatorSource& source : evidence.operators) add_source(source, staged, warmup, figures);
  if (evidence.session) add_kernels_to_nodes(evidence.session->backend, figures);
  return figures;
}

}  // namespace nl::analysis
