#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

#include "exporters/fingerprint/fingerprint_reports.h"
#include "exporters/report/text/figure_text.h"
#include "model/text_table.h"

namespace nl::exporters {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kShownItems = 30;
constexpr std::size_t kShownPairs = 15;
constexpr std::size_t kNameBytes = 40;
constexpr std::size_t kFeaturesAlwaysShown = 2, kSharesAndCosine = 3;
constexpr double kLeastLoss = 0.00005;  // of the similarity: less does not show in four decimals

// What is not counted is a dash, although the vector has 0.
void add_features(const FingerprintItem& item, bool ridge, std::vector<std::string>& row) {
  const auto known = known_features(item, ridge);
  for (std::size_t i = 0; i < item.vector.size(); ++i) row.push_back(known[i] ? fmt::format("{:.3f}", item.vector[i]) : "-");
}

std::string fingerprint_title(const Fingerprint& fingerprint) {
  std::string out = fmt::format("{}: {} {}", fingerprint.run_id, fingerprint.items.size(), key_of(fingerprint.kind));
  if (!fingerprint.hardware.empty()) out += " on " + fingerprint.hardware;
  if (fingerprint.ridge) out += fmt::format("; the roofline of {} bends at {} FLOP/B", fingerprint.peaks, figure_text(fingerprint.ridge));
  return out;
}

// Control characters of a capture's names do not reach the terminal.
std::string shown_name(const FingerprintItem& item) {
  std::string name = cut(item.stage.empty() ? item.name : item.stage + " " + item.name, kNameBytes);
  std::replace_if(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return name;
}

template <class Less>
std::vector<std::size_t> ordered(std::size_t count, const Less& less) {
  std::vector<std::size_t> out(count);
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::stable_sort(out.begin(), out.end(), less);
  return out;
}

std::string alone_text(const FingerprintMatch& match) {
  if (match.only_a == 0 && match.only_b == 0) return "every one has a partner";
  return fmt::format("{} of A and {} of B have no partner", match.only_a, match.only_b);
}

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

std::string missing_note(const Fingerprint& fingerprint) {
  std::vector<std::string_view> names;
  for (const std::size_t i : fingerprint.missing_features()) names.push_back(kFingerprintFeatures[i]);
  if (names.empty()) return {};
  const bool peaks_only = names.size() == 1 && !fingerprint.ridge &&
                          std::any_of(fingerprint.items.begin(), fingerprint.items.end(),
                                      [](const FingerprintItem& item) { return item.counters.intensity.has_value(); });
  std::string out = fmt::format("Not counted in this run, and 0 in every vector: {}.", fmt::join(names, ", "));
  if (peaks_only) return out + " The peaks of the GPU are not known: --peaks FILE.yaml gives them.";
  if (!fingerprint.counters_refused.empty()) return out + " " + fingerprint.counters_refused;
  return fingerprint.counters_command.empty() ? out : out + " Counters come with: " + fingerprint.counters_command;
}

std::string fingerprint_text(const Fingerprint& fingerprint, std::size_t width) {
  const auto& items = fingerprint.items;
  std::string out = fingerprint_title(fingerprint) + "\n";
  if (items.empty()) return out;
  TextTable table{{"signature", "name", "type"}, {}, {false, false, false}, kFeaturesAlwaysShown};
  table.texts_always_shown = 2;
  for (const std::string_view feature : kFingerprintFeatures) table.head.emplace_back(feature), table.numbers.push_back(true);
  const auto order = ordered(items.size(), [&](std::size_t a, std::size_t b) { return items[a].time_ns > items[b].time_ns; });
  for (std::size_t i = 0; i < std::min(kShownItems, order.size()); ++i) {
    const FingerprintItem& item = items[order[i]];
    table.rows.push_back({item.signature, shown_name(item), item.type});
    add_features(item, fingerprint.ridge.has_value(), table.rows.back());
  }
  const FittedTable shown = fitted(std::move(table), width);
  out += shown.text;
  if (const std::string note = missing_note(fingerprint); !note.empty()) out += note + "\n";
  if (!shown.left_out.empty()) out += fmt::format("not shown for lack of room: {}\n", fmt::join(shown.left_out, ", "));
  if (items.size() > kShownItems) out += fmt::format("and {} more; --json has all\n", items.size() - kShownItems);
  return out;
}

std::string match_text(const Fingerprint& a, const Fingerprint& b, const FingerprintMatch& match, std::size_t width) {
  const auto by_signature =
      static_cast<std::size_t>(std::count_if(match.pairs.begin(), match.pairs.end(), [](const auto& pair) { return pair.by_signature; }));
  std::string out = fmt::format("A {}\nB {}\nsimilarity {:.4f}\n", fingerprint_title(a), fingerprint_title(b), match.similarity);
  out += fmt::format("{} paired by signature, {} by order; {}\n", by_signature, match.pairs.size() - by_signature, alone_text(match));
  // What makes them differ most.
  const auto loss = [&](const FingerprintPair& pair) {
    return (1 - pair.cosine) * (a.items[pair.a].vector[0] + b.items[pair.b].vector[0]) / 2;
  };
  const auto order = ordered(match.pairs.size(), [&](std::size_t x, std::size_t y) { return loss(match.pairs[x]) > loss(match.pairs[y]); });
  TextTable table{{"name", "cosine", "of A's time", "of B's time"}, {}, {false, true, true, true}, kSharesAndCosine};
  for (std::size_t i = 0; i < std::min(kShownPairs, order.size()); ++i) {
    const FingerprintPair& pair = match.pairs[order[i]];
    if (loss(pair) < kLeastLoss) break;
    table.rows.push_back({shown_name(a.items[pair.a]), fmt::format("{:.4f}", pair.cosine), share_text(a.items[pair.a].vector[0]),
                          share_text(b.items[pair.b].vector[0])});
  }
  return table.rows.empty() ? out : out + fitted(std::move(table), width).text;
}

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
