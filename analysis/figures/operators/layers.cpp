#include "analysis/figures/operators/layers.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analysis/figures/operators/catalogue.h"
#include "analysis/trace/operator_names.h"
#include "nvtx/names.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kMaxLayers = 2000;
constexpr std::size_t kTopKernels = 5;
constexpr std::string_view kRoot = "(model)";
constexpr const char* kNoLayers =
    "the capture has no ranges of the domain LLM.layers; call watch_modules(model) of nl_stage_nvtx in the workload, "
    "or open nl::nvtx::Layer in its layers";

// The layer's range name without its domain; empty where the range is not a layer.
std::string_view layer_range(const Trace& trace, const Range& range) {
  const std::string& domain = trace.strings[range.domain];
  const std::string_view name = trace.strings[range.name];
  if (domain == nvtx::kLayerDomain) return name;
  return domain.empty() ? literal_name(name, nvtx::kLayerDomain).value_or("") : "";
}

struct Layers {
  RangeItems items;
  std::vector<std::string> names, types;
  std::vector<Ns> first_start_ns;
  std::unordered_map<std::string, std::uint32_t> ids;

  void add(std::size_t range_index, const Range& range, std::string_view range_name) {
    const LayerName layer = split_layer_name(range_name);
    const auto [found, added] = ids.try_emplace(std::string(layer.name), items.groups);
    const std::uint32_t id = found->second;
    if (added) {
      ++items.groups;
      items.group_of_item.push_back(id);
      names.emplace_back(layer.name);
      types.emplace_back();
      first_start_ns.push_back(range.start_ns);
    }
    if (types[id].empty()) types[id] = layer.type;
    first_start_ns[id] = std::min(first_start_ns[id], range.start_ns);
    items.item_of_range[range_index] = id;
  }
};

Layers layers_of(const Trace& trace) {
  Layers layers;
  layers.items.item_of_range.assign(trace.ranges.size(), kNone);
  for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
    const Range& range = trace.ranges[i];
    const std::string_view name = layer_range(trace, range);
    if (name.empty()) continue;
    if (is_countable(trace, range)) layers.add(i, range, name);
    else ++layers.items.left_out;
  }
  return layers;
}

// "model.layers.0.mlp" lies four steps below the whole model.
std::uint32_t depth_of(std::string_view name) {
  if (name == kRoot) return 0;
  return 1 + static_cast<std::uint32_t>(std::count(name.begin(), name.end(), '.'));
}

LayerEntry layer_entry(const Trace& trace, const Layers& layers, const GroupTime& time, std::uint32_t id) {
  LayerEntry entry;
  entry.name = layers.names[id];
  entry.type = layers.types[id];
  entry.depth = depth_of(entry.name);
  entry.calls = time.calls;
  entry.total_ns = time.total_ns;
  entry.self_ns = time.self_ns;
  if (trace.has_kernel_data || trace.has_mem_data) {
    entry.cuda_total_ns = time.cuda_total_ns;
    entry.cuda_self_ns = time.cuda_self_ns;
  }
  entry.kernels = top_work(trace, time, kTopKernels);
  return entry;
}

std::string note_of(const Layers& layers) {
  std::string note;
  if (layers.items.groups > kMaxLayers)
    note = fmt::format("{} layers in the capture; the {} with the most time are listed", layers.items.groups, kMaxLayers);
  if (layers.items.left_out > 0)
    note += fmt::format("{}{} left out: never closed, or closed by another thread", note.empty() ? "" : "; ",
                        layers.items.left_out == 1 ? "1 layer range is" : fmt::format("{} layer ranges are", layers.items.left_out));
  return note;
}

}  // namespace

LayerRanges layer_ranges(const Trace& trace) {
  Layers layers = layers_of(trace);
  return {std::move(layers.items.item_of_range), std::move(layers.names)};
}

LayerTable layer_table(const Trace& trace) {
  return layer_table(trace, [&](const RangeItems& items) { return tally_ranges(trace, items); });
}

LayerTable layer_table(const Trace& trace, const std::function<RangeTally(const RangeItems&)>& tally_of) {
  LayerTable table;
  const Layers layers = layers_of(trace);
  table.note = layers.items.groups == 0 && layers.items.left_out == 0 ? kNoLayers : note_of(layers);
  if (layers.items.groups == 0) return table;
  const RangeTally tally = tally_of(layers.items);
  std::vector<std::uint32_t> order = by_time(tally, layers.names);
  if (order.size() > kMaxLayers) order.resize(kMaxLayers);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(layers.first_start_ns[a], a) < std::tuple(layers.first_start_ns[b], b);
  });
  for (const std::uint32_t id : order) table.layers.push_back(layer_entry(trace, layers, tally.groups[id], id));
  return table;
}

}  // namespace nl::analysis
