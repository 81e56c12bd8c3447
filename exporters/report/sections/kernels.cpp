#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/links.h"
#include "exporters/report/text/run_text.h"
#include "exporters/report/text/told_apart_names.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

constexpr std::size_t kTextKernels = 15, kTextCalls = 10, kMostCalls = 200;

// Of its GPU: ranks have windows of their own.
double windows_of(const StageEntry& stage, std::int32_t device) {
  std::uint64_t windows = 0;
  for (const StageDevice& gpu : stage.devices) windows += gpu.device == device ? gpu.windows : 0;
  return static_cast<double>(windows > 0 ? windows : stage.wall.count);
}

// A kernel's time in µs, or its launches, in one step: a window of the stage that step_stage() names, or a token of it.
enum class PerStep : bool { kTime, kCalls };
ColumnOf<KernelRow> step_column(const StageEntry* stage, Column head, PerStep what, bool per_token) {
  const double tokens = stage == nullptr || !per_token ? 1 : stage->tokens_per_window.value_or(0);
  return {std::move(head), [=](const KernelRow& row) -> Cell {
            const StageLaunches* launches = stage == nullptr ? nullptr : launches_in(row.kernel, stage->name);
            if (launches == nullptr || !(tokens > 0)) return kNoValue;
            const double sum =
                what == PerStep::kTime ? static_cast<double>(launches->total_ns) / 1e3 : static_cast<double>(launches->calls);
            const double each = sum / windows_of(*stage, row.kernel.device) / tokens;
            return {fmt::format("{:.{}f}", each, per_token ? 3 : 2), each};
          }};
}

// "2", "2 of 4"
std::string gpu_text(const KernelRow& row) {
  const std::string gpu = std::to_string(row.kernel.device);
  return row.working.gpus > 1 ? fmt::format("{} of {}", gpu, row.working.gpus) : gpu;
}

std::string each_gpu_text(const WorkingKernel& working) {
  if (working.gpus < 2) return kNoValue;
  return fmt::format("{} to {}", time_text(static_cast<double>(working.least_ns)), time_text(static_cast<double>(working.most_ns)));
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

bool runs_on_several(const WorkingKernels& working) {
  return std::any_of(working.list.begin(), working.list.end(), [](const WorkingKernel& each) { return each.gpus > 1; });
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

std::vector<std::string> told_apart(const std::vector<KernelRow>& rows) {
  std::vector<std::string> names;
  for (const KernelRow& row : rows) names.push_back(row.kernel.name);
  return told_apart_kernel_names(names);
}

Table kernel_table(const Run& run, const std::vector<WorkingKernel>& kernels) {
  const auto listed = listed_kernels(run);
  std::vector<KernelRow> rows;
  for (const WorkingKernel& kernel : listed) rows.push_back(kernel_row(run, kernel));
  Table table = table_of("Kernels", kernel_columns(run), rows);
  const std::vector<std::string> told = told_apart(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const KernelEntry& kernel = rows[i].kernel;
    for (Span& name : table.rows[i].front().text.spans) name.brief = told[i];
    table.rows[i].id = kernel_id(listed[i].index);
    table.rows[i].data = {
        {"kind", std::string(key_of(kernel.kind))}, {"stage", stages_around(kernel)}, {"layer", launchers_of(kernel, run.layers)}};
    if (!run.operators.empty()) table.rows[i].data.emplace_back("operator", launchers_of(kernel, run.operators.front().entries));
  }
  if (listed.size() < kernels.size()) table.foot.push_back(other_kernels(run, kernels, listed.size()));
  table.sortable = table.filter = true;
  table.name = "kernels";
  table.text_rows = kTextKernels;
  return table;
}

}  // namespace

KernelRow kernel_row(const Run& run, const WorkingKernel& working) {
  const KernelEntry& kernel = (*run.kernels)[working.index];
  return {kernel, working, main_sample(kernel)};
}

ColumnsOf<KernelRow> counter_columns() {
  ColumnsOf<KernelRow> columns;
  for (const MetricInfo* metric : columns_of(MetricPlace::kLaunch))
    columns.push_back({{std::string(metric->title), kRight, room_of(*metric), metric->key.data()}, [metric](const KernelRow& row) {
                         return metric_cell(metric->unit, row.sample == nullptr ? std::nullopt : row.sample->values[metric->metric]);
                       }});
  return columns;
}

constexpr std::ptrdiff_t kAfterSteps = 7;  // of the columns: those per token stand behind those per step

ColumnsOf<KernelRow> kernel_columns(const Run& run) {
  using R = KernelRow;
  const StageEntry* stage = step_stage(run);
  const std::string step = stage == nullptr ? "step" : stage_title(run, stage->name);
  ColumnsOf<R> all = {
      {{"Kernel", kLeft, kAlways, "kernel"}, [](const R& row) { return kernel_name(row.kernel.name); }},
      {{"Kind", kLeft, kWide, "kind"}, [](const R& row) { return std::string(key_of(row.kernel.kind)); }},
      {{"Total", kRight, kAlways, "total", false, true}, [](const R& row) { return time_cell(static_cast<double>(row.working.time_ns)); }},
      {{"Share", kRight, kAlways, "share", false, true}, [](const R& row) { return share_cell(row.working.measured_share); }},
      {{"Calls", kRight, kAlways, "calls", false, true}, [](const R& row) { return count_cell(row.working.calls); }},
      step_column(stage, {"µs per " + step, kRight, kWide, "us_per_step", false, true}, PerStep::kTime, false),
      step_column(stage, {"Calls per " + step, kRight, kWide, "calls_per_step", false, true}, PerStep::kCalls, false),
      {{"Mean", kRight, kWide, "mean"}, [](const R& row) { return time_cell(row.kernel.time.mean_ns); }},
      {{"p50", kRight, kAlways, "p50"}, [](const R& row) { return time_cell(row.kernel.time.median_ns); }},
      {{"p99", kRight, kAlways, "p99"}, [](const R& row) { return time_cell(row.kernel.time.p99()); }},
      {{"Longest", kRight, kAlways, "longest", true}, [](const R& row) { return time_cell(static_cast<double>(row.kernel.time.max_ns)); }},
      {{"Stages" + source_label(run), kLeft, kAlways, "stages"}, [](const R& row) { return split_text(row.kernel); }}};
  if (generates(run))
    all.insert(all.begin() + kAfterSteps,
               {step_column(stage, {"µs per token", kRight, kWide, "us_per_token", true, true}, PerStep::kTime, true),
                step_column(stage, {"Calls per token", kRight, kWide, "calls_per_token", true, true}, PerStep::kCalls, true)});
  for (auto& column : counter_columns()) all.push_back(std::move(column));
  all.push_back({{"Bound by", kLeft, kAlways, "bound_by"}, [](const R& row) {
                   return row.sample == nullptr ? Cell(kNoValue) : bound_cell(row.sample->bound_by, row.sample->bound_memory);
                 }});
  const bool several = several_gpus(*run.kernels);
  all.push_back({{"GPU", kRight, several ? kAlways : kWide, "gpu"},
                 [](const R& row) { return Cell(gpu_text(row), static_cast<double>(row.kernel.device)); }});
  if (several)
    all.push_back({{"On each GPU", kRight, kAlways, "on_each_gpu"},
                   [](const R& row) { return Cell(each_gpu_text(row.working), static_cast<double>(row.working.most_ns)); }});
  if (any_stalls(*run.kernels))
    all.push_back({{"Warps stalled by", kLeft, kAlways, "stalls"}, [](const R& row) { return stalls_text(row.kernel); }});
  return all;
}

Paragraph no_kernels(const Run& run) {
  return not_captured(run.kernels_note, "the capture holds no kernels", run.kernels ? "None" : "Not captured");
}

Section kernels(const Run& run) {
  Section out{"kernels", "Kernels", "Kernels"};
  if (!run.kernels || run.kernels->empty()) {
    out.blocks = {no_kernels(run)};
    return out;
  }
  const std::string by = measured_by(*run.kernels);
  const WorkingKernels working = working_kernels(run);
  const std::string order =
      working.measured ? "By GPU time in the measured windows; Mean, p50, p99 (from 100 launches on) and Longest are of all launches."
                       : "By total GPU time.";
  std::string text = order + " kernels.md lists every kernel with its name in full.";
  if (!by.empty())
    text = fmt::format(
        "{} {} measured the columns from SM % to Bound by; a dash: not measured. kernels.md lists every kernel with its name in full, "
        "and each measured launch.",
        order, by);
  if (runs_on_several(working))
    text +=
        " What several GPUs that are alike run has one row: that of the GPU on which it takes the longest, or about as long and its "
        "counters were measured.";
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
                          time_cell(call.time.mean_ns), time_cell(call.time.median_ns), time_cell(call.time.p99()),
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
