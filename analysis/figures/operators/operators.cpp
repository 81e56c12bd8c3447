#include "analysis/figures/operators/operators.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/figures/operators/catalogue.h"
#include "analysis/figures/operators/range_tally.h"
#include "analysis/figures/operators/types.h"
#include "analysis/trace/work_origin.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

constexpr const char* kNothing =
    "the capture has no operator ranges; capture PyTorch's with --set nsys.pytorch=autograd-shapes-nvtx, mark your own "
    "with op() of nl_stage_nvtx or nl::nvtx::Operator, or import a torch.profiler trace with --kineto";

constexpr std::size_t kLongestShape = 200;

std::string shape_text(const std::string& shape) { return shape.size() <= kLongestShape ? shape : shape.substr(0, kLongestShape) + "…"; }

std::vector<std::vector<OperatorShape>> shapes_of(const Catalogue& catalogue, const RangeTally& tally, bool gpu, std::size_t top) {
  std::vector<std::vector<OperatorShape>> shapes(catalogue.items.groups);
  for (std::size_t i = 0; i < tally.items.size(); ++i) {
    if (catalogue.shapes[i].empty()) continue;
    const ItemTime& time = tally.items[i];
    OperatorShape shape{shape_text(catalogue.shapes[i]), time.calls, time.total_ns, std::nullopt};
    if (gpu) shape.cuda_total_ns = time.cuda_total_ns;
    shapes[catalogue.items.group_of_item[i]].push_back(std::move(shape));
  }
  for (auto& list : shapes) {
    std::sort(list.begin(), list.end(), [](const OperatorShape& a, const OperatorShape& b) {
      return std::tuple(-a.cuda_total_ns.value_or(0), -a.total_ns, std::string_view(a.text)) <
             std::tuple(-b.cuda_total_ns.value_or(0), -b.total_ns, std::string_view(b.text));
    });
    if (list.size() > top) list.resize(top);
  }
  return shapes;
}

std::vector<std::pair<std::string, Ns>> stage_split(const RangeTally& tally, const GroupTime& time, bool gpu) {
  std::vector<std::pair<std::string, Ns>> stages;
  for (const auto& [stage, ns] : gpu ? time.stage_cuda_self_ns : time.stage_self_ns)
    stages.emplace_back(stage == kNone ? "none" : tally.stages[stage], ns);
  std::sort(stages.begin(), stages.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.second, std::string_view(a.first)) < std::tuple(-b.second, std::string_view(b.first));
  });
  return stages;
}

std::vector<OperatorTable> tables_of(const Trace& trace, const OperatorOptions& options) {
  std::vector<OperatorTable> tables;
  for (const RangeSource source : range_sources(trace)) {
    const Catalogue catalogue = catalogue_of(trace, source);
    tables.push_back(operator_table(trace, source, catalogue, tally_ranges(trace, catalogue.items), options));
  }
  return tables;
}

}  // namespace

OperatorTable operator_table(const Trace& trace, RangeSource source, const Catalogue& catalogue, const RangeTally& tally,
                             const OperatorOptions& options) {
  const bool gpu = trace.has_kernel_data || trace.has_mem_data;
  OperatorTable table;
  table.source = source_name(source, trace);
  table.ranges_left_out = catalogue.items.left_out;
  if (gpu) table.cuda_ns = tally.cuda_ns;
  if (gpu && tally.capture_cuda_ns > 0)
    table.gpu_share = std::min(1.0, static_cast<double>(tally.cuda_ns) / static_cast<double>(tally.capture_cuda_ns));
  table.graph_unjoined_share = graph_unjoined_share(trace);
  std::vector<std::uint32_t> order = by_time(tally, catalogue.names);
  if (order.size() > options.max_entries) {
    table.entries_left_out = order.size() - options.max_entries;
    order.resize(options.max_entries);
  }
  auto shapes = shapes_of(catalogue, tally, gpu, options.top_shapes);
  for (const std::uint32_t group : order) {
    const GroupTime& time = tally.groups[group];
    OperatorEntry entry;
    entry.name = catalogue.names[group];
    if (const OperatorType type = operator_type(entry.name); source != kOtherRanges && type != OperatorType::kOther)
      entry.type = key_of(type);
    entry.calls = time.calls;
    entry.total_ns = time.total_ns;
    entry.self_ns = time.self_ns;
    if (gpu) {
      entry.cuda_total_ns = time.cuda_total_ns;
      entry.cuda_self_ns = time.cuda_self_ns;
    }
    entry.shapes = std::move(shapes[group]);
    entry.kernels = top_work(trace, time, options.top_kernels);
    entry.stages = stage_split(tally, time, gpu);
    table.entries.push_back(std::move(entry));
  }
  return table;
}

void add_operators(const Trace& trace, const OperatorOptions& options, OperatorFigures& figures) {
  figures.operators = tables_of(trace, options);
  figures.operators_note = figures.operators.empty() ? kNothing : "";
}

bool has_torch_operators(const Trace& trace) {
  return std::any_of(trace.ranges.begin(), trace.ranges.end(), [&](const Range& range) {
    const RangeSource source = classify_range(trace, range).source;
    return source == kTorchRanges || source == kKinetoRanges;
  });
}

void add_operator_table_from(const Trace& other, const std::string& source, const std::string& file, OperatorFigures& figures,
                             const OperatorOptions& options) {
  auto tables = tables_of(other, options);
  const auto own = std::find_if(tables.begin(), tables.end(), [&](const OperatorTable& table) { return table.source == source; });
  OperatorTable table = own != tables.end() ? std::move(*own) : tables.empty() ? OperatorTable{} : std::move(tables.front());
  if (tables.empty()) table.note = "the file has no operators";
  table.source = source;
  table.file = file;
  figures.operators.push_back(std::move(table));
  figures.operators_note.clear();
}

void add_operator_records(const OperatorRecords& records, OperatorFigures& figures) {
  figures.operators.push_back(records.table);
  figures.operators_note.clear();
  for (OperatorStep step : records.steps) {
    for (OperatorCall& call : step.calls) call.type = type_of_call(call);
    figures.operator_steps.push_back(std::move(step));
  }
}

}  // namespace nl::analysis
