#include "analysis/operators/operators.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/operators/names.h"
#include "analysis/attribution/range_tally.h"
#include "analysis/attribution/range_work.h"
#include "analysis/attribution/work_origin.h"
#include "nvtx/names.h"

namespace nl::analysis {
namespace {

constexpr const char* kNothing =
    "the capture has no operator ranges; capture PyTorch's with --set nsys.pytorch=autograd-shapes-nvtx, mark your own "
    "with op() of nl_stage_nvtx or nl::nvtx::Operator, or import a torch.profiler trace with --kineto";

constexpr std::size_t kLongestShape = 200;

enum Source { kPyTorch, kKineto, kOnnxRuntime, kMarked, kOther, kSources, kNoSource = kSources };

const char* source_name(Source source, const Trace& trace) {
  switch (source) {
    case kPyTorch: return "pytorch ranges";
    case kKineto: return "kineto";
    case kOnnxRuntime: return "onnxruntime";
    default: return trace.stats.source_format == SourceFormat::kKineto ? "user annotations" : "NVTX ranges";
  }
}

// A range as an operator: its source, its name without numbers, its shape.
struct Classified {
  Source source = kNoSource;
  std::string_view domain;  // to be shown with the name
  OperatorName name;
};

Classified classify(const Trace& trace, const Range& range) {
  const std::string& domain = trace.strings[range.domain];
  const std::string& name = trace.strings[range.name];
  if (domain == kTorchDomain) return {kKineto, {}, split_operator_name(name)};
  if (domain == kOnnxRuntimeDomain) return {kOnnxRuntime, {}, split_operator_name(name)};
  if (domain == kOnnxRuntimeSessionDomain || domain == nvtx::kLlmDomain || domain == nvtx::kLayerDomain) return {};
  if (domain == nvtx::kOperatorDomain) return {kMarked, {}, split_operator_name(name)};
  if (domain.empty()) {
    const auto literal = [&](std::string_view known) {
      return name.size() > known.size() && std::string_view(name).substr(0, known.size()) == known && name[known.size()] == '@';
    };
    if (literal(nvtx::kLlmDomain) || literal(nvtx::kLayerDomain)) return {};
    if (literal(nvtx::kOperatorDomain)) return {kMarked, {}, split_operator_name(std::string_view(name).substr(nvtx::kOperatorDomain.size() + 1))};
  }
  const OperatorName split = split_operator_name(name);
  if (split.numbered && domain.empty()) return {kPyTorch, {}, split};
  return {kOther, domain, split};
}

// The operators of one source, numbered as they are met.
struct Catalogue {
  RangeItems items;
  std::vector<std::string> names;       // by group
  std::vector<std::string> shapes;      // by item
  std::unordered_map<std::string, std::uint32_t> group_ids, item_ids;
  std::string key;

  std::uint32_t group(std::string_view domain, std::string_view name) {
    key.assign(domain);
    if (!domain.empty()) key += ':';
    key += name;
    const auto [found, added] = group_ids.try_emplace(key, items.groups);
    if (added) {
      names.push_back(key);
      ++items.groups;
    }
    return found->second;
  }

  std::uint32_t item(const Classified& range) {
    const std::uint32_t group_id = group(range.domain, range.name.name);
    key = std::to_string(group_id);
    key += ' ';
    key += range.name.shape;
    const auto [found, added] = item_ids.try_emplace(key, static_cast<std::uint32_t>(shapes.size()));
    if (added) {
      shapes.emplace_back(range.name.shape);
      items.group_of_item.push_back(group_id);
    }
    return found->second;
  }
};

Catalogue catalogue_of(const Trace& trace, Source source) {
  Catalogue out;
  out.items.item_of_range.assign(trace.ranges.size(), kNone);
  for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
    const Range& range = trace.ranges[i];
    const Classified classified = classify(trace, range);
    if (classified.source != source) continue;
    if (is_never_closed(trace, range) || range.end_thread != kNone || range.thread >= trace.threads.size())
      ++out.items.left_out;
    else
      out.items.item_of_range[i] = out.item(classified);
  }
  return out;
}

std::string shape_text(const std::string& shape) {
  return shape.size() <= kLongestShape ? shape : shape.substr(0, kLongestShape) + "…";
}

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

OperatorTable table_of(const Trace& trace, Source source, const OperatorOptions& options) {
  const Catalogue catalogue = catalogue_of(trace, source);
  const RangeTally tally = tally_ranges(trace, catalogue.items);
  const bool gpu = trace.has_kernel_data || trace.has_mem_data;
  OperatorTable table;
  table.source = source_name(source, trace);
  table.ranges_left_out = catalogue.items.left_out;
  if (gpu) table.cuda_ns = tally.cuda_ns;
  if (gpu && tally.capture_cuda_ns > 0)
    table.gpu_share = static_cast<double>(tally.cuda_ns) / static_cast<double>(tally.capture_cuda_ns);
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

std::vector<OperatorTable> tables_of(const Trace& trace, const OperatorOptions& options) {
  std::array<bool, kSources + 1> found{};
  for (const Range& range : trace.ranges) found[classify(trace, range).source] = true;
  if (found[kMarked]) found[kOther] = false;
  std::vector<OperatorTable> tables;
  for (int source = 0; source < kSources; ++source)
    if (found[static_cast<std::size_t>(source)]) tables.push_back(table_of(trace, static_cast<Source>(source), options));
  return tables;
}

}  // namespace

void add_operators(const Trace& trace, const OperatorOptions& options, Run& run) {
  run.operators = tables_of(trace, options);
  run.operators_note = run.operators.empty() ? kNothing : "";
}

void add_operator_table_from(const Trace& other, const std::string& source, const std::string& file, Run& run,
                             const OperatorOptions& options) {
  auto tables = tables_of(other, options);
  const auto own = std::find_if(tables.begin(), tables.end(), [&](const OperatorTable& table) { return table.source == source; });
  OperatorTable table = own != tables.end() ? std::move(*own) : tables.empty() ? OperatorTable{} : std::move(tables.front());
  if (tables.empty()) table.note = "the file has no operators";
  table.source = source;
  table.file = file;
  run.operators.push_back(std::move(table));
  run.operators_note.clear();
}

}  // namespace nl::analysis
