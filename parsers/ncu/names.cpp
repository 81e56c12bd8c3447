#include "parsers/ncu/cells.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace nl::parsers {
namespace {

constexpr std::string_view kDefaultDomain = "<default domain>";

// Cuts the last `n` fields off: they hold no colon.
std::optional<std::string_view> without_last_fields(std::string_view text, int n) {
  for (; n > 0; --n) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    text = text.substr(0, colon);
  }
  return text;
}

NcuRange range_of(std::string_view domain, std::string_view name, RangeStyle style) {
  return {std::string(domain == kDefaultDomain ? std::string_view() : domain), std::string(name), style};
}

NcuRange split_at_first_colon(std::string_view domain_and_name, RangeStyle style) {
  const auto colon = domain_and_name.find(':');
  if (colon == std::string_view::npos) return range_of({}, domain_and_name, style);
  return range_of(domain_and_name.substr(0, colon), domain_and_name.substr(colon + 1), style);
}

// domain:name:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg, where Msg repeats the name if Msg_Type says
// that there is one. Domain and name may hold colons, so the name is what stands on both sides.
//   LLM:step 1:2:none:none:none:none:ASCII:step 1:2
//   <default domain>:LLM@prefill:none:none:none:none:none:none
std::optional<NcuRange> read_entry(std::string_view entry, RangeStyle style) {
  static constexpr std::array<std::string_view, 3> kMessageTypes = {":ASCII:", ":UNICODE:", ":REGISTERED:"};
  for (const auto type : kMessageTypes) {
    for (auto at = entry.find(type); at != std::string_view::npos; at = entry.find(type, at + 1)) {
      const std::string_view message = entry.substr(at + type.size());
      const auto head = without_last_fields(entry.substr(0, at), 4);
      if (!head || head->size() < message.size() + 1) continue;
      const std::size_t colon = head->size() - message.size() - 1;
      if ((*head)[colon] == ':' && head->substr(colon + 1) == message) return range_of(head->substr(0, colon), message, style);
    }
  }
  const auto head = without_last_fields(entry, 6);
  if (!head) return std::nullopt;
  return split_at_first_colon(*head, style);
}

struct DetailsName {
  std::string_view section;  // the beginning of it: versions differ in the rest
  std::string_view metric;
  std::string_view raw;
};

constexpr std::array kNames = {
    DetailsName{"GPU Speed Of Light", "Duration", "gpu__time_duration.sum"},
    DetailsName{"GPU Speed Of Light", "Compute (SM) Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "SM Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "SM [%]", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "SOL SM", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "Memory Throughput", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "Memory [%]", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "SOL Memory", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "DRAM Throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "SOL DRAM", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "L1/TEX Cache Throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active"},
    DetailsName{"GPU Speed Of Light", "L2 Cache Throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    DetailsName{"GPU Speed Of Light", "Elapsed Cycles", "gpc__cycles_elapsed.max"},
    DetailsName{"GPU Speed Of Light", "SM Active Cycles", "sm__cycles_active.avg"},
    DetailsName{"GPU Speed Of Light", "SM Frequency", "gpc__cycles_elapsed.avg.per_second"},
    DetailsName{"GPU Speed Of Light", "DRAM Frequency", "dram__cycles_elapsed.avg.per_second"},
    DetailsName{"Occupancy", "Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    DetailsName{"Occupancy", "Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
    DetailsName{"Occupancy", "Achieved Active Warps Per SM", "sm__warps_active.avg.per_cycle_active"},
    DetailsName{"Compute Workload Analysis", "Executed Ipc Active", "sm__inst_executed.avg.per_cycle_active"},
    DetailsName{"Memory Workload Analysis", "L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct"},
    DetailsName{"Memory Workload Analysis", "L2 Hit Rate", "lts__t_sector_hit_rate.pct"},
    DetailsName{"Launch Statistics", "Registers Per Thread", "launch__registers_per_thread"},
    DetailsName{"Launch Statistics", "Waves Per SM", "launch__waves_per_multiprocessor"},
};

}  // namespace

// 1606  "LLM:decode_all:none:none:none:none:REGISTERED:decode_all"  "LLM:decode_step:…:decode_step"
//  "0:LLM:decode_all:none:none:none:none:ASCII:decode_all"
void read_ncu_ranges(std::string_view cell, RangeStyle style, std::vector<NcuRange>& out) {
  std::size_t open = cell.find('"');
  while (open != std::string_view::npos) {
    // The closing quote is followed by a blank or nothing; a quote inside a name is not.
    std::size_t close = cell.find('"', open + 1);
    while (close != std::string_view::npos && close + 1 < cell.size() && cell[close + 1] != ' ') close = cell.find('"', close + 1);
    if (close == std::string_view::npos) return;
    std::string_view entry = cell.substr(open + 1, close - open - 1);
    if (style == RangeStyle::kStartEnd) entry = entry.substr(std::min(entry.find(':') + 1, entry.size()));
    if (auto range = read_entry(entry, style)) out.push_back(std::move(*range));
    open = cell.find('"', close + 1);
  }
}

std::string raw_metric_name(std::string_view section, std::string_view metric, bool rate) {
  // "Command line profiler metrics" and the metric tables print the raw name already.
  if (metric.find("__") != std::string_view::npos) return std::string(metric);
  if (rate && metric == "Memory Throughput") return "dram__bytes.sum.per_second";
  const auto found = std::find_if(kNames.begin(), kNames.end(), [&](const DetailsName& name) {
    return section.substr(0, name.section.size()) == name.section && metric == name.metric;
  });
  if (found != kNames.end()) return std::string(found->raw);
  return std::string(section) + "/" + std::string(metric);
}

}  // namespace nl::parsers
