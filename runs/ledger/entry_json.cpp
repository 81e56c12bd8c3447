#include "runs/ledger/entry_json.h"

#include "runs/ledger/bundles.h"

namespace nl::runs {
namespace {

using nlohmann::ordered_json;

ordered_json known_or_null(const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); }

}  // namespace

ordered_json entry_json(const LedgerEntry& entry) {
  ordered_json json;
  json["run_id"] = entry.run_id;
  json["created_at"] = entry.created_at;
  json["name"] = entry.name;
  json["mode"] = entry.mode;
  json["status"] = entry.status;
  json["model"] = known_or_null(entry.model);
  json["precision"] = known_or_null(entry.precision);
  json["backend"] = known_or_null(entry.backend);
  json["gpu"] = known_or_null(entry.gpu);
  json["gpu_count"] = entry.gpu_count;
  json["hardware"] = known_or_null(entry.hardware);
  json["workload"] = known_or_null(entry.workload);
  json["workload_text"] = known_or_null(entry.workload_text);
  json["revision"] = known_or_null(entry.revision);
  json["modified"] = entry.modified ? ordered_json(*entry.modified) : ordered_json();
  json["command"] = known_or_null(entry.command);
  json["part_of"] = known_or_null(entry.part_of);
  json["bundle"] = known_or_null(entry.bundle.string());
  json["tags"] = entry.tags;
  json["metrics"] = entry.metrics;
  return json;
}

ordered_json shown_json(const LedgerEntry& entry, const std::vector<LedgerNote>& notes) {
  ordered_json json = entry_json(entry);
  json["bundle_state"] = word_of(bundle_state(entry));
  json["notes"] = ordered_json::array();
  for (const LedgerNote& note : notes) json["notes"].push_back({{"written_at", note.written_at}, {"text", note.text}});
  return json;
}

}  // namespace nl::runs
