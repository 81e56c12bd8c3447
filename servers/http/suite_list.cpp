#include "servers/http/suite_list.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "model/error.h"
#include "model/input_bounds.h"
#include "orchestrator/bundle/read_run.h"

namespace fs = std::filesystem;

namespace nl::servers::http {
namespace {

constexpr std::size_t kMostParts = 2000;  // of the newest timing runs that are looked at
constexpr int kLevels = 4;                // from a bundle up to its suite
constexpr const char* kSuiteFile = "suite.json";

// The folder above a bundle that has a suite.json; empty: there is none here.
fs::path suite_folder(const fs::path& bundle) {
  fs::path folder = bundle.parent_path();
  std::error_code ignored;
  for (int level = 0; level < kLevels && folder.has_relative_path(); ++level, folder = folder.parent_path())
    if (fs::is_regular_file(folder / kSuiteFile, ignored)) return folder;
  return {};
}

std::optional<double> number(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

std::string word(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

SuitePair pair_in(const nlohmann::json& json) {
  return {word(json, "name"), word(json, "baseline"),  word(json, "optimised"), word(json, "verdict"), word(json, "expectation"),
          word(json, "note"), number(json, "speedup"), number(json, "low"),     number(json, "high"),  number(json, "expected")};
}

std::optional<SuiteSummary> summary_of(const fs::path& folder) {
  try {
    const fs::path file = folder / kSuiteFile;
    const std::string written = orchestrator::read_run_text(file);
    const auto json = nlohmann::json::parse(json_within_bounds(written, file.string()));
    SuiteSummary suite{folder,
                       folder.filename().string(),
                       word(json, "name"),
                       word(json, "verdict"),
                       word(json, "started_at"),
                       word(json, "ended_at"),
                       word(json, "machine"),
                       number(json, "threshold").value_or(0),
                       {},
                       {}};
    for (const auto& pair : json.at("pairs")) suite.pairs.push_back(pair_in(pair));
    return suite;
  } catch (const std::exception&) {  // damaged: of no use here, and said by `nl-stage validate`
    return std::nullopt;
  }
}

}  // namespace

std::vector<SuiteSummary> suites_of(runs::Ledger& ledger) {
  runs::LedgerFilter filter;
  filter.parts = true;
  filter.part_of = "suite";
  filter.limit = kMostParts;
  std::map<fs::path, fs::path> known;  // bundles of one suite lie beside each other
  std::vector<SuiteSummary> suites;
  for (const runs::LedgerEntry& entry : ledger.query(filter)) {
    const auto [place, fresh] = known.try_emplace(entry.bundle.parent_path());
    if (fresh) place->second = suite_folder(entry.bundle);
    if (place->second.empty()) continue;
    auto suite = std::find_if(suites.begin(), suites.end(), [&](const SuiteSummary& each) { return each.folder == place->second; });
    if (suite == suites.end()) {
      auto summary = summary_of(place->second);
      if (!summary) continue;
      suite = suites.insert(suites.end(), std::move(*summary));
    }
    suite->run_ids.push_back(entry.run_id);
  }
  std::stable_sort(suites.begin(), suites.end(), [](const SuiteSummary& a, const SuiteSummary& b) { return a.started_at > b.started_at; });
  return suites;
}

}  // namespace nl::servers::http
