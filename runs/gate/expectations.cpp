#include "runs/gate/expectations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/runs/gate/gate.h"
#include "model/error.h"
#include "orchestrator/config/nearest.h"
#include "orchestrator/config/yaml_file.h"

namespace nl::runs {
namespace {

constexpr const char* kWholeFile = "docs/gate.md shows a whole file";

class ExpectationsFile : YamlFile {
 public:
  explicit ExpectationsFile(const ConfFile& file) : YamlFile(file, "file of expectations", kWholeFile) {}

  Expectations read() const {
    check_keys(tree_, "a file of expectations", {"version", "tolerance", "hardware"});
    check_version();
    Expectations out;
    if (const YamlTree* tolerance = find(tree_, "tolerance")) {
      out.tolerance = this->tolerance(*tolerance, nullptr);
      if (!out.tolerance.relative) refuse("the tolerance of all metrics wants a percentage", tolerance->place, "such as tolerance: 5%");
    }
    const YamlTree* hardware = find(tree_, "hardware");
    if (hardware == nullptr || hardware->kind == Kind::kNull) return out;
    want(*hardware, Kind::kMap, "'hardware'", "names and metrics", "such as NVIDIA H200:");
    for (const auto& [key, value] : hardware->entries) out.hardware.push_back(of_hardware(key.name, value));
    return out;
  }

 private:
  void check_version() const {
    const YamlTree& version = need(tree_, "this file", "version", kWholeFile);
    if (version.text == std::to_string(kExpectationsVersion)) return;
    refuse(fmt::format("the version '{}' is not known", version.text), version.place,
           fmt::format("this nl-stage reads version {}; a newer one may have written the file", kExpectationsVersion));
  }

  HardwareExpectations of_hardware(const std::string& name, const YamlTree& map) const {
    HardwareExpectations out{name, {}};
    if (map.kind == Kind::kNull) return out;
    want(map, Kind::kMap, fmt::format("'{}'", name), "metrics", "such as tpot_median_ms:");
    for (const auto& [key, value] : map.entries) out.list.push_back(expectation(key, value));
    if (const Expectation* odd = analysis::of_other_mode(out))
      refuse(fmt::format("the expectations of '{}' are of several capture modes: {} is of '{}'", name, odd->metric, odd->from.captured_by),
             {odd->line, 1}, "figures of different modes cannot be compared; set all of them anew with --update");
    return out;
  }

  Expectation expectation(const YamlTree::Key& key, const YamlTree& map) const {
    Expectation out;
    out.metric = key.name;
    out.line = key.place.line;
    const RunMetricInfo* info = find_metric(key.name);
    if (info == nullptr) unknown_metric(key);
    check_keys(map, key.name, {"expected", "tolerance", "provenance"});
    const YamlTree& expected = need(map, key.name, "expected", kWholeFile);
    out.expected = number<double>(expected, "'expected'", "a number", "such as 4.26");
    if (const YamlTree* value = find(map, "tolerance")) out.tolerance = tolerance(*value, info);
    out.from = source(need(map, key.name, "provenance", kWholeFile));
    return out;
  }

  [[noreturn]] void unknown_metric(const YamlTree::Key& key) const {
    Keys known;
    for (const RunMetricInfo& info : run_metric_table()) known.push_back(key_pattern(info));
    const std::string near = nearest_name(key.name, known);
    refuse(fmt::format("there is no metric '{}'", key.name), key.place,
           near.empty() ? "`nl-stage gate RUN --list` prints those of a run" : fmt::format("did you mean '{}'?", near));
  }

  ExpectationSource source(const YamlTree& map) const {
    Keys keys = {"run", "commit", "nl_stage", "captured_by", "model"};
    for (const WorkloadFact& fact : kWorkloadFacts) keys.emplace_back(fact.key());
    check_keys(map, "'provenance'", keys);
    const auto text = [&](const std::string& key) {
      const YamlTree* value = find(map, key);
      return value ? value->text : std::string();
    };
    need(map, "'provenance'", "captured_by", kWholeFile);
    ExpectationSource out{text("run"), text("commit"), text("nl_stage"), text("captured_by"), text("model")};
    for (const WorkloadFact& fact : kWorkloadFacts) out.*fact.value = text(std::string(fact.key()));
    return out;
  }

  // "5%" and "5 %" of the expected value, "0.2 ms" in the metric's unit.
  Tolerance tolerance(const YamlTree& value, const RunMetricInfo* info) const {
    const std::string_view text = value.text, digits = text.substr(0, text.find_first_not_of("0123456789.eE+-"));
    std::string_view unit = text.substr(digits.size());
    unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
    const bool relative = unit == "%";
    const auto amount = number_in<double>(digits);
    if (!amount || !std::isfinite(*amount)) refuse("'tolerance' wants a number", value.place, "such as 5%");
    if (*amount < 0) refuse("'tolerance' cannot be below zero", value.place, "such as 5%");
    if (!relative && (info == nullptr || unit != key_of(info->unit)))
      refuse(fmt::format("'tolerance' cannot be '{}'", value.text), value.place,
             info == nullptr || key_of(info->unit).empty()
                 ? "a share of the expected value: 5%"
                 : fmt::format("a share of the expected value, 5%, or in its unit: 0.2 {}", key_of(info->unit)));
    return {relative ? *amount / 100 : *amount, relative};
  }
};

}  // namespace

Expectations read_expectations(const ConfFile& file) { return ExpectationsFile(file).read(); }

}  // namespace nl::runs
