#include "exporters/fingerprint/fingerprint_reports.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "model/visible_text.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

// How fingerprints are printed: nulls for what was not counted, zeros in the vector.
using namespace nl;
using namespace nl::exporters;
using nl::test::has;

namespace {

Fingerprint printed_fingerprint() {
  Fingerprint out{"r1", "NVIDIA H200", "llama", FingerprintKind::kOperators, "NVIDIA H200", 206.1, {}};
  FingerprintItem item;
  item.signature = "0123456789abcdef";
  item.stage = "decode_step";
  item.name = "aten::mm\x1b[31m";
  item.type = "matmul";
  item.time_ns = 10;
  item.counters.occupancy = 0.25;
  item.vector = {1, 0, 0.25, 0, 0, 0};
  out.items = {item};
  return out;
}

}  // namespace

TEST_CASE("fingerprint text: a dash for what was not counted, and no control characters") {
  const std::string text = fingerprint_text(printed_fingerprint());
  CHECK(has(text, "r1: 1 operators on NVIDIA H200; the roofline of NVIDIA H200 bends at 206 FLOP/B\n"));
  CHECK(has(text, "0123456789abcdef  decode_step aten::mm [31m"));
  CHECK(has(text, "   1.000   -  0.250         -       -          -\n"));
  CHECK_FALSE(has(text, "\x1b"));
}

TEST_CASE("fingerprint JSON: null in the raw fields, 0.0 in the vector") {
  const auto json = nlohmann::json::parse(fingerprint_json(printed_fingerprint()));
  CHECK(json["features"] == nlohmann::json({"lat_norm", "ai", "occ", "warp_eff", "l2_hit", "dram_norm"}));
  const auto& item = json["items"][0];
  CHECK(item["raw"]["occupancy"] == 0.25);
  for (const char* raw : {"intensity", "warp_efficiency", "l2_hit", "dram_use"}) CHECK(item["raw"][raw].is_null());
  CHECK(item["vector"] == nlohmann::json({1.0, 0.0, 0.25, 0.0, 0.0, 0.0}));
}

TEST_CASE("fingerprint: features that nothing was counted for are named, with the command that counts them or why it was refused") {
  Fingerprint fingerprint = printed_fingerprint();
  fingerprint.counters_command = "nl-stage run --config deep -- ./llm";
  const std::string what = "Not counted in this run, and 0 in every vector: ai, warp_eff, l2_hit, dram_norm.";
  CHECK(has(fingerprint_text(fingerprint), what + " Counters come with: nl-stage run --config deep -- ./llm\n"));
  auto json = nlohmann::json::parse(fingerprint_json(fingerprint));
  CHECK(json["missing_features"] == nlohmann::json({"ai", "warp_eff", "l2_hit", "dram_norm"}));
  CHECK(json["note"] == what + " Counters come with: nl-stage run --config deep -- ./llm");
  fingerprint.counters_refused = "No permission.";
  CHECK(missing_note(fingerprint) == what + " No permission.");

  FingerprintCounters& counted = fingerprint.items[0].counters;
  counted = {1, 0.25, 0.5, 0.5, 0.5};
  CHECK(missing_note(fingerprint).empty());
  json = nlohmann::json::parse(fingerprint_json(fingerprint));
  CHECK(json["note"].is_null());
  CHECK(json["missing_features"].empty());
  fingerprint.ridge.reset();
  CHECK(missing_note(fingerprint) ==
        "Not counted in this run, and 0 in every vector: ai. The peaks of the GPU are not known: --peaks FILE.yaml gives them.");
}

TEST_CASE("fingerprint comparison: the figure, the pairs, and what makes the difference first") {
  const Fingerprint a = printed_fingerprint(), b = printed_fingerprint();
  FingerprintMatch match{0.875, {{0, 0, true, 0.5}}, 0, 2};
  const std::string text = match_text(a, b, match);
  CHECK(has(text, "similarity 0.8750\n1 paired by signature, 0 by order; 0 of A and 2 of B have no partner\n"));
  CHECK(has(text, "\nname                       cosine  of A's time  of B's time\n"));
  CHECK(has(text, "\ndecode_step aten::mm [31m  0.5000      100.0 %      100.0 %\n"));
  const auto json = nlohmann::json::parse(match_json(a, b, match));
  CHECK(json["similarity"] == 0.875);
  CHECK(json["pairs"][0]["paired_by"] == "signature");
  for (const double alike : {1.0, 0.99999}) {  // which four decimals print as 1
    match.pairs[0].cosine = alike;
    CHECK_FALSE(has(match_text(a, b, match), "cosine"));
  }
}

TEST_CASE("fingerprint comparison: no row is wider than the terminal") {
  Fingerprint a = printed_fingerprint();
  a.items[0].name = std::string(100, 'x');
  const std::string text = match_text(a, a, {0.5, {{0, 0, true, 0.5}}, 0, 0}, 60);
  const std::string rows = text.substr(text.find("name "));
  std::istringstream lines(rows);
  for (std::string line; std::getline(lines, line);) CHECK(columns_of(line) <= 60);
  CHECK(has(rows, "…  0.5000      100.0 %      100.0 %\n"));
}
