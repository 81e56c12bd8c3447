#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/links.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

constexpr std::size_t kTextKernels = 15, kTextCalls = 10, kMostCalls = 200;

// What the columns per step and per token divide by: measured windows of a stage, and the tokens of one.
struct StepScale {
  const StageEntry* stage = nullptr;
  double windows = 0;
  std::optional<double> tokens;
};

StepScale step_scale(const Run& run) {
  StepScale scale{step_stage(run), 0, std::nullopt};
  if (scale.stage == nullptr) return scale;
  scale.windows = static_cast<double>(scale.stage->wall.count);
  if (scale.stage->tokens_per_window.value_or(0) > 0) scale.tokens = scale.stage->tokens_per_window;
  return scale;
}

Cell per(std::optional<double> value, int digits) { return value ? Cell(fmt::format("{:.{}f}", *value, digits), *value) : Cell(kNoValue); }

void add_step_cells(const KernelEntry& kernel, const StepScale& scale, Row& row) {
  const StageLaunches* launches = scale.stage == nullptr ? nullptr : launches_in(kernel, scale.stage->name);
  const auto per_step = [&](double sum) { return launches == nullptr ? std::nullopt : std::optional(sum / scale.windows); };
  const auto us = per_step(launches == nullptr ? 0 : static_cast<double>(launches->total_ns) / 1e3);
  const auto calls = per_step(launches == nullptr ? 0 : static_cast<double>(launches->calls));
  row.push_back(per(us, 2));
  row.push_back(per(calls, 2));
  row.push_back(per(us && scale.tokens ? std::optional(*us / *scale.tokens) : std::nullopt, 3));
  row.push_back(per(calls && scale.tokens ? std::optional(*calls / *scale.tokens) : std::nullopt, 3));
}

void add_step_columns(const Run& run, const StepScale& scale, Table& table) {
  const std::string step = scale.stage == nullptr ? "step" : stage_title(run, scale.stage->name);
  table.columns.push_back({"µs per " + step, kRight, kWide, "us_per_step", false, true});
  table.columns.push_back({"Calls per " + step, kRight, kWide, "calls_per_step", false, true});
  table.columns.push_back({"µs per token", kRight, kWide, "us_per_token", true, true});
  table.columns.push_back({"Calls per token", kRight, kWide, "calls_per_token", true, true});
}

std::string stages_around(const KernelEntry& kernel) {
  std::string out;
  for (const StageLaunches& launches : kernel.measured) out += (out.empty() ? "" : "|") + launches.stage;
  return out;
}

// Names of the operators, or of the layers, that launch it, as far as their tables tell.
template <class Entries>
std::string launchers_of(const KernelEntry& kernel, const Entries& entries) {
  std::string out;
  for (const auto& entry : entries)
    for (const OperatorKernel& launched : entry.kernels)
      if (launched.name == kernel.name) out += (out.empty() ? "" : "|") + entry.name;
  return out;
}

Row kernel_row(const Run& run, const WorkingKernel& working, const StepScale& scale, bool stalls) {
  const KernelEntry& kernel = (*run.kernels)[working.index];
  const NcuSample* sample = main_sample(kernel);
  Row row = {Text(kernel.name.empty() ? "(no name)" : kernel.name, Inline::kName), std::string(key_of(kernel.kind)),
             time_cell(static_cast<double>(working.time_ns)), share_cell(working.measured_share), count_cell(working.calls)};
  add_step_cells(kernel, scale, row);
  for (const Cell& cell : {time_cell(kernel.time.mean_ns), time_cell(kernel.time.median_ns),
                           time_cell(static_cast<double>(kernel.time.p99_ns)), Cell(split_text(kernel))})
    row.push_back(cell);
  for (const MetricInfo* metric : columns_of(MetricPlace::kLaunch))
    row.push_back(metric_cell(metric->unit, sample == nullptr ? std::nullopt : sample->values[metric->metric]));
  row.push_back(sample == nullptr ? Cell(kNoValue) : bound_cell(sample->bound_by, sample->bound_memory));
  row.push_back(count_cell(static_cast<std::uint64_t>(std::max(0, kernel.device))));
  if (stalls) row.emplace_back(stalls_text(kernel));
  row.data = {{"kind", std::string(key_of(kernel.kind))}, {"stage", stages_around(kernel)}, {"layer", launchers_of(kernel, run.layers)}};
  if (!run.operators.empty()) row.data.emplace_back("operator", launchers_of(kernel, run.operators.front().entries));
  return row;
}

Table empty_kernel_table(const Run& run, const std::vector<KernelEntry>& kernels, const StepScale& scale) {
  Table table{"Kernels",
              {{"Kernel", kLeft, kAlways, "kernel"},
               {"Kind", kLeft, kWide, "kind"},
               {"Total", kRight, kAlways, "total", false, true},
               {"Share", kRight, kAlways, "share", false, true},
               {"Calls", kRight, kAlways, "calls", false, true}}};
  add_step_columns(run, scale, table);
  for (const Column& column : {Column{"Mean", kRight, kWide, "mean"},
                               {"p50", kRight, kAlways, "p50"},
                               {"p99", kRight, kAlways, "p99"},
                               {"Stages" + source_label(run), kLeft, kAlways, "stages"}})
    table.columns.push_back(column);
  for (const MetricInfo* metric : columns_of(MetricPlace::kLaunch))
    table.columns.push_back({std::string(metric->title), kRight, room_of(*metric), metric->key.data()});
  table.columns.push_back({"Bound by", kLeft, kAlways, "bound_by"});
  table.columns.push_back({"GPU", kRight, several_gpus(kernels) ? kAlways : kWide, "gpu"});
  if (any_stalls(kernels)) table.columns.push_back({"Warps stalled by", kLeft, kAlways, "stalls"});
  table.sortable = table.filter = true;
  table.name = "kernels";
  table.text_rows = kTextKernels;
  return table;
}

Row other_kernels(const Run& run, const std::vector<WorkingKernel>& kernels, std::size_t from) {
  WorkingKernel rest;
  for (std::size_t i = from; i < kernels.size(); ++i) {
    rest.time_ns += kernels[i].time_ns;
    rest.calls += kernels[i].calls;
    rest.measured_share += kernels[i].measured_share;
  }
  return {plural(kernels.size() - from, "more kernel"), "", time_cell(static_cast<double>(rest.time_ns)),
          share_cell(several_gpus(*run.kernels) ? std::nullopt : std::optional(rest.measured_share)), count_cell(rest.calls)};
}

Table kernel_table(const Run& run, const std::vector<WorkingKernel>& kernels) {
  const StepScale scale = step_scale(run);
  Table table = empty_kernel_table(run, *run.kernels, scale);
  const auto listed = listed_kernels(run);
  for (const WorkingKernel& kernel : listed) {
    table.rows.push_back(kernel_row(run, kernel, scale, any_stalls(*run.kernels)));
    table.rows.back().id = kernel_id(kernel.index);
  }
  if (listed.size() < kernels.size()) table.foot.push_back(other_kernels(run, kernels, listed.size()));
  return table;
}

}  // namespace

Section kernels(const Run& run) {
  Section out{"kernels", "Kernels", "Kernels"};
  if (!run.kernels || run.kernels->empty()) {
    out.blocks = {not_captured(run.kernels_note, "the capture holds no kernels", run.kernels ? "None" : "Not captured")};
    return out;
  }
  const std::string by = measured_by(*run.kernels);
  const WorkingKernels working = working_kernels(run);
  const std::string order =
      working.measured ? "By GPU time in the measured windows; Mean, p50 and p99 are of all launches." : "By total GPU time.";
  std::string text = order + " kernels.md lists every kernel and the names [n] in full.";
  if (!by.empty())
    text = fmt::format(
        "{} {} measured the columns from SM % to Bound by; a dash: not measured. kernels.md lists every kernel, "
        "the names [n] in full and each measured launch.",
        order, by);
  Table table = kernel_table(run, working.list);
  if (working.list.size() > kTextKernels) table.text_note = plural(working.list.size(), "kernel") + " in all.";
  out.blocks = {Paragraph{text}};
  add(out.blocks, Paragraph{working_kernels_note(run, working)});
  out.blocks.emplace_back(std::move(table));
  return out;
}

Section api(const Run& run) {
  Section out{"api", "CUDA calls", "CUDA calls"};
  if (run.api.empty()) return out;
  Table table{"CUDA calls",
              {{"Call", kLeft, kAlways, "call"},
               {"Total", kRight, kAlways, "total", false, true},
               {"Calls", kRight, kAlways, "calls", false, true},
               {"Mean", kRight, kAlways, "mean"},
               {"p50", kRight, kAlways, "p50"},
               {"p99", kRight, kAlways, "p99"},
               {"Longest", kRight, kAlways, "longest"}}};
  table.sortable = table.filter = true;
  table.name = "api";
  for (std::size_t i = 0; i < std::min(kMostCalls, run.api.size()); ++i) {
    const ApiEntry& call = run.api[i];
    table.rows.push_back({code(call.name), time_cell(static_cast<double>(call.time.total_ns)), count_cell(call.time.count),
                          time_cell(call.time.mean_ns), time_cell(call.time.median_ns), time_cell(static_cast<double>(call.time.p99_ns)),
                          time_cell(static_cast<double>(call.time.max_ns))});
  }
  table.text_rows = kTextCalls;
  if (run.api.size() > kTextCalls) table.text_note = plural(run.api.size(), "function") + " in all: run.json has every one.";
  if (run.api.size() > kMostCalls) table.foot.push_back({plural(run.api.size() - kMostCalls, "more function") + " in run.json"});
  out.blocks = {
      Paragraph{"Time on the CPU inside calls of CUDA, in the whole capture, warm-up included. Calls inside calls count in both."},
      std::move(table)};
  return out;
}

}  // namespace nl::exporters::report
