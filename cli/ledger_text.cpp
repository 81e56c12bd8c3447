#include "cli/ledger_text.h"

#include <fmt/format.h>

#include <utility>

#include "model/run_metrics.h"
#include "model/text_table.h"
#include "model/visible_text.h"

namespace nl::cli {
namespace {

using nlohmann::ordered_json;

std::string joined_tags(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) text += (text.empty() ? "" : ", ") + tag;
  return text;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

// "2026-11-16T17:37:57Z" → "2026-11-16 17:37"
std::string minute_of(const std::string& time) { return time.size() < 16 ? time : time.substr(0, 10) + " " + time.substr(11, 5); }

}  // namespace

ordered_json entry_json(const runs::LedgerEntry& entry) {
  const auto text_or_null = [](const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); };
  ordered_json json;
  json["run_id"] = entry.run_id;
  json["created_at"] = entry.created_at;
  json["name"] = entry.name;
  json["mode"] = entry.mode;
  json["status"] = entry.status;
  json["model"] = text_or_null(entry.model);
  json["precision"] = text_or_null(entry.precision);
  json["backend"] = text_or_null(entry.backend);
  json["gpu"] = text_or_null(entry.gpu);
  json["gpu_count"] = entry.gpu_count;
  json["hardware"] = text_or_null(entry.hardware);
  json["revision"] = text_or_null(entry.revision);
  json["modified"] = entry.modified ? ordered_json(*entry.modified) : ordered_json();
  json["command"] = text_or_null(entry.command);
  json["part_of"] = text_or_null(entry.part_of);
  json["bundle"] = text_or_null(entry.bundle.string());
  json["tags"] = entry.tags;
  json["metrics"] = entry.metrics;
  return json;
}

std::string entry_table(const std::vector<runs::LedgerEntry>& entries, const std::vector<std::string>& metrics, std::size_t width) {
  TextTable table{{"run", "made (UTC)", "name", "status", "model", "GPU", "tags"}, {}, std::vector<bool>(7), metrics.size()};
  table.numbers.resize(7 + metrics.size(), true);
  table.texts_always_shown = 3;
  table.head.insert(table.head.end(), metrics.begin(), metrics.end());
  for (const auto& entry : entries) {
    table.rows.push_back({entry.run_id, minute_of(entry.created_at), entry.name, entry.status, or_dash(entry.model), or_dash(entry.gpu),
                          or_dash(joined_tags(entry.tags))});
    for (const std::string& key : metrics)
      table.rows.back().push_back(entry.metrics.contains(key) ? metric_text(key, entry.metrics.at(key)) : "-");
  }
  const FittedTable shown = fitted(std::move(table), width);
  return shown.text + (shown.left_out.empty() ? "" : fmt::format("not shown for lack of room: {}\n", fmt::join(shown.left_out, ", ")));
}

std::string metric_text(const std::string& key, double value) {
  const RunMetricInfo* info = find_metric(key);
  const std::string number = three_digits(value);
  return info == nullptr || key_of(info->unit).empty() ? number : fmt::format("{} {}", number, key_of(info->unit));
}

}  // namespace nl::cli
