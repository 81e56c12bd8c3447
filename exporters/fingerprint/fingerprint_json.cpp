#include <nlohmann/json.hpp>

#include "exporters/fingerprint/fingerprint_text.h"

namespace nl::exporters {
namespace {

using nlohmann::ordered_json;

ordered_json value_or_null(const std::optional<double>& value) { return value ? ordered_json(*value) : ordered_json(nullptr); }

ordered_json item_json(const FingerprintItem& item) {
  const FingerprintCounters& counted = item.counters;
  return {{"signature", item.signature},
          {"stage", item.stage.empty() ? ordered_json(nullptr) : ordered_json(item.stage)},
          {"name", item.name},
          {"type", item.type},
          {"shape", item.shape},
          {"index", item.index},
          {"time_ns", item.time_ns},
          {"raw",
           {{"intensity", value_or_null(counted.intensity)},
            {"occupancy", value_or_null(counted.occupancy)},
            {"warp_efficiency", value_or_null(counted.warp_efficiency)},
            {"l2_hit", value_or_null(counted.l2_hit)},
            {"dram_use", value_or_null(counted.dram_use)}}},
          {"vector", item.vector}};
}

ordered_json head_json(const Fingerprint& fingerprint) {
  return {{"run_id", fingerprint.run_id},
          {"hardware", fingerprint.hardware},
          {"model", fingerprint.model},
          {"kind", key_of(fingerprint.kind)},
          {"items", fingerprint.items.size()}};
}

std::string dumped(const ordered_json& json) { return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string fingerprint_json(const Fingerprint& fingerprint) {
  ordered_json out = head_json(fingerprint);
  out["peaks"] = fingerprint.peaks.empty() ? ordered_json(nullptr) : ordered_json(fingerprint.peaks);
  out["ridge_flop_per_byte"] = value_or_null(fingerprint.ridge);
  out["features"] = kFingerprintFeatures;
  out["missing_features"] = ordered_json::array();
  for (const std::size_t i : fingerprint.missing_features()) out["missing_features"].push_back(kFingerprintFeatures[i]);
  const std::string note = missing_note(fingerprint);
  out["note"] = note.empty() ? ordered_json(nullptr) : ordered_json(note);
  out["items"] = ordered_json::array();
  for (const FingerprintItem& item : fingerprint.items) out["items"].push_back(item_json(item));
  return dumped(out);
}

std::string match_json(const Fingerprint& a, const Fingerprint& b, const FingerprintMatch& match) {
  ordered_json out = {{"a", head_json(a)},      {"b", head_json(b)},      {"similarity", match.similarity},
                      {"only_a", match.only_a}, {"only_b", match.only_b}, {"pairs", ordered_json::array()}};
  for (const FingerprintPair& pair : match.pairs)
    out["pairs"].push_back({{"a", a.items[pair.a].signature},
                            {"b", b.items[pair.b].signature},
                            {"stage", a.items[pair.a].stage.empty() ? ordered_json(nullptr) : ordered_json(a.items[pair.a].stage)},
                            {"name", a.items[pair.a].name},
                            {"paired_by", pair.by_signature ? "signature" : "order"},
                            {"cosine", pair.cosine}});
  return dumped(out);
}

}  // namespace nl::exporters
