#include "model/glossary.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "model/metrics.h"
#include "model/run_metrics.h"
#include "tests/catch.h"

namespace {

std::vector<std::string> names_of(const nl::GlossaryEntry& entry) {
  std::vector<std::string> out = {std::string(entry.term)};
  for (std::string_view rest = entry.names; !rest.empty();) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    out.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

}  // namespace

TEST_CASE("every metric of the counters and of gates is in the glossary, under its key and its column") {
  for (const nl::MetricPlace place : {nl::MetricPlace::kLaunch, nl::MetricPlace::kStage, nl::MetricPlace::kSampled})
    for (const nl::MetricInfo& metric : nl::metrics_of(place)) {
      CAPTURE(std::string(metric.key), std::string(metric.title));
      CHECK(nl::glossary_entry(metric.key) != nullptr);
      if (!metric.title.empty()) CHECK(nl::glossary_entry(metric.title) == nl::glossary_entry(metric.key));
    }
  for (const nl::RunMetricInfo& metric : nl::run_metric_table()) {
    CAPTURE(std::string(metric.key));
    CHECK(nl::glossary_entry(metric.key) != nullptr);
  }
}

TEST_CASE("a name leads to one entry, and an entry says what it is") {
  std::map<std::string, std::string> terms;
  for (const nl::GlossaryEntry& entry : nl::glossary()) {
    CAPTURE(std::string(entry.term));
    REQUIRE_FALSE(entry.sentence.empty());
    CHECK(entry.sentence.back() != '.');
    CHECK((entry.formula.empty() || !entry.unit.empty() || !entry.source.empty()));  // a formula is of a figure
    for (const std::string& name : names_of(entry)) {
      CAPTURE(name);
      CHECK(nl::glossary_entry(name) == &entry);
      CHECK(terms.emplace(name, entry.term).second);
    }
  }
  CHECK(terms.size() > 200);
  CHECK(nl::glossary_entry("no such term") == nullptr);
  CHECK(nl::glossary_entry("") == nullptr);
}

TEST_CASE("a hover text has meaning, formula, unit and source, as far as there are any") {
  CHECK(nl::glossary_text(*nl::glossary_entry("mbu")) ==
        "Model bandwidth utilisation: how much of the GPU's memory rate the model's own work uses. Formula: needed bytes ÷ (time × peak "
        "bytes/s). Unit: %. "
        "From: trace and the model's description.");
  CHECK(nl::glossary_text(*nl::glossary_entry("Measured")) == "Not warm-up.");
}
