#include "analysis/runs/compare/stage_lines.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/runs/compare/line_table.h"
#include "model/stage.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

CompareLine inside_line(std::string key, std::string stage, CompareFigure figure) {
  CompareLine line;
  line.key = std::move(key);
  line.stage = std::move(stage);
  line.figure = figure;
  return line;
}

template <class Names>
std::set<std::string> names_of(const Sides& sides, Names names) {
  std::set<std::string> all;
  for (const auto* side : {&sides.a, &sides.b})
    for (const Run* run : *side) names(*run, all);
  return all;
}

double in_window(const Run& run, const std::string& stage, Ns total_ns) {
  const StageEntry* entry = find_stage(run, stage);
  return entry != nullptr ? static_cast<double>(total_ns) / static_cast<double>(entry->wall.count) : 0;
}

// The same source on both sides, if there is one: Kineto's operators are not those of NVTX ranges.
const OperatorTable* operators_of(const Run& run, const std::string& source) {
  const auto found =
      std::find_if(run.operators.begin(), run.operators.end(), [&](const OperatorTable& table) { return table.source == source; });
  return found != run.operators.end() ? &*found : nullptr;
}

std::string common_source(const Sides& sides) {
  std::string first;  // by name: the same from either side
  for (const OperatorTable& table : sides.a[0]->operators)
    if (operators_of(*sides.b[0], table.source) != nullptr && (first.empty() || table.source < first)) first = table.source;
  return first;
}

// Of one call, GPU time where it is known: captures differ in how many steps they hold.
std::optional<double> operator_time(const Run& run, const std::string& source, const std::string& name, bool gpu) {
  const OperatorTable* table = operators_of(run, source);
  if (table == nullptr) return std::nullopt;
  for (const OperatorEntry& entry : table->entries) {
    if (entry.name != name || entry.calls == 0) continue;
    if (gpu && !entry.cuda_self_ns) return std::nullopt;
    if (!gpu && !entry.host_time_known) return std::nullopt;
    return static_cast<double>(gpu ? *entry.cuda_self_ns : entry.self_ns) / static_cast<double>(entry.calls);
  }
  return 0;
}

std::optional<double> layer_time(const Run& run, const std::string& name, bool gpu) {
  if (run.layers.empty()) return std::nullopt;
  for (const LayerEntry& entry : run.layers) {
    if (entry.name != name || entry.calls == 0) continue;
    if (gpu && !entry.cuda_self_ns) return std::nullopt;
    return static_cast<double>(gpu ? *entry.cuda_self_ns : entry.self_ns) / static_cast<double>(entry.calls);
  }
  return 0;
}

std::optional<double> host_wait(const Run& run, const std::string& stage, HostWork kind) {
  const StageEntry* entry = find_stage(run, stage);
  if (entry == nullptr || !entry->host_code) return std::nullopt;
  for (const HostWorkTime& each : entry->host_code->kinds)
    if (each.kind == kind) return each.time_ns ? std::optional(in_window(run, stage, *each.time_ns)) : std::nullopt;
  return 0;
}

std::optional<double> line_wait(const Run& run, const std::string& stage, const std::string& place) {
  const StageEntry* entry = find_stage(run, stage);
  if (entry == nullptr || !entry->host_code) return std::nullopt;
  double sum = 0;
  for (const HostLine& each : entry->host_code->lines)
    if (each.time_ns && place_text(each.frame) == place) sum += in_window(run, stage, *each.time_ns);
  return sum;
}

}  // namespace

CompareSection budget_lines(const Sides& sides, const Judge& judge, const RunLines& run_lines) {
  LineTable table(sides, judge);
  for (const std::string& stage : common_stages(sides))
    for (const BudgetBinKey& bin : kBudgetBinKeys)
      table.add(inside_line(bin.key, stage, CompareFigure::kBin), why_not_entered(run_lines, stage),
                [&](const Run& run) -> std::optional<double> {
                  const StageEntry* entry = find_stage(run, stage);
                  return entry != nullptr && entry->budget ? std::optional(in_window(run, stage, (*entry->budget).*bin.time_ns))
                                                           : std::nullopt;
                });
  return table.take();
}

CompareSection operator_lines(const Sides& sides, const Judge& judge, const RunLines& run_lines) {
  LineTable table(sides, judge);
  const std::string source = common_source(sides);
  const auto names = names_of(sides, [&](const Run& run, std::set<std::string>& all) {
    if (const OperatorTable* operators = operators_of(run, source))
      for (const OperatorEntry& entry : operators->entries) all.insert(entry.name);
  });
  for (const std::string& name : names)
    for (const bool gpu : {true, false})
      table.add(inside_line(name, "", gpu ? CompareFigure::kGpuTime : CompareFigure::kHostTime), why_not_entered(run_lines),
                [&](const Run& run) { return operator_time(run, source, name, gpu); });
  return table.take();
}

CompareSection layer_lines(const Sides& sides, const Judge& judge, const RunLines& run_lines) {
  LineTable table(sides, judge);
  const auto names = names_of(sides, [](const Run& run, std::set<std::string>& all) {
    for (const LayerEntry& entry : run.layers) all.insert(entry.name);
  });
  for (const std::string& name : names)
    for (const bool gpu : {true, false})
      table.add(inside_line(name, "", gpu ? CompareFigure::kGpuTime : CompareFigure::kHostTime), why_not_entered(run_lines),
                [&](const Run& run) { return layer_time(run, name, gpu); });
  return table.take();
}

CompareSection host_lines(const Sides& sides, const Judge& judge, const RunLines& run_lines) {
  LineTable table(sides, judge);
  for (const std::string& stage : common_stages(sides)) {
    const auto why_not = why_not_entered(run_lines, stage);
    for (std::size_t i = 0; i < kHostWorks; ++i) {
      const auto kind = static_cast<HostWork>(i);
      table.add(inside_line(std::string(key_of(kind)), stage, CompareFigure::kHostWait), why_not,
                [&](const Run& run) { return host_wait(run, stage, kind); });
    }
    const auto places = names_of(sides, [&](const Run& run, std::set<std::string>& all) {
      const StageEntry* entry = find_stage(run, stage);
      if (entry == nullptr || !entry->host_code) return;
      for (std::size_t i = 0; i < std::min<std::size_t>(20, entry->host_code->lines.size()); ++i)
        all.insert(place_text(entry->host_code->lines[i].frame));
    });
    for (const std::string& place : places)
      table.add(inside_line(place, stage, CompareFigure::kHostWait), why_not, [&](const Run& run) { return line_wait(run, stage, place); });
  }
  return table.take();
}

CompareSection api_lines(const Sides& sides, const Judge& judge, const RunLines& run_lines) {
  LineTable table(sides, judge);
  const auto names = names_of(sides, [](const Run& run, std::set<std::string>& all) {
    for (const ApiEntry& entry : run.api) all.insert(entry.name);
  });
  for (const std::string& name : names)
    table.add(inside_line(name, "", CompareFigure::kApiTime), why_not_entered(run_lines), [&](const Run& run) -> std::optional<double> {
      if (run.api.empty()) return std::nullopt;
      for (const ApiEntry& entry : run.api)
        if (entry.name == name) return entry.time.mean_ns;
      return 0;
    });
  return table.take();
}

}  // namespace nl::analysis
