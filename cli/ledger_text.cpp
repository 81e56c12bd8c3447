#include "cli/ledger_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "model/figures.h"
#include "model/run_metrics.h"

namespace nl::cli {
namespace {

using nlohmann::ordered_json;

// The width of a text in a terminal, one place a character.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += row[i] + std::string(widths[i] - width_of(row[i]) + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string joined_tags(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) text += (text.empty() ? "" : ", ") + tag;
  return text;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

// "2026-11-16T17:37:57Z" → "2026-11-16 17:37"
std::string minute_of(const std::string& time) { return time.size() < 16 ? time : time.substr(0, 10) + " " + time.substr(11, 5); }

}  // namespace

ordered_json entry_json(const orchestrator::LedgerEntry& entry) {
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
  json["bundle"] = text_or_null(entry.bundle.string());
  json["tags"] = entry.tags;
  json["metrics"] = entry.metrics;
  return json;
}

std::string entry_table(const std::vector<orchestrator::LedgerEntry>& entries, const std::vector<std::string>& metrics) {
  std::vector<std::vector<std::string>> rows = {{"run", "made (UTC)", "name", "status", "model", "GPU", "tags"}};
  rows[0].insert(rows[0].end(), metrics.begin(), metrics.end());
  for (const auto& entry : entries) {
    rows.push_back({entry.run_id, minute_of(entry.created_at), entry.name, entry.status, or_dash(entry.model), or_dash(entry.gpu), or_dash(joined_tags(entry.tags))});
    for (const std::string& key : metrics) rows.back().push_back(entry.metrics.contains(key) ? metric_text(key, entry.metrics.at(key)) : "-");
  }
  return table_text(rows);
}

void print_ledger_json(const ordered_json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, ordered_json::error_handler_t::replace));
  std::fflush(stdout);
}

std::string metric_text(const std::string& key, double value) {
  const RunMetricInfo* info = metric_info(key);
  const std::string number = three_digits(value);
  return info == nullptr || info->unit.empty() ? number : fmt::format("{} {}", number, info->unit);
}

}  // namespace nl::cli
