#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "exporters/run_json/run_json.h"
#include "tests/catch.h"
#include "tests/unit/exporters/every_value_run.h"
#include "tests/unit/golden.h"

// Writer, reader and schema share one list of fields: one of them cannot show that it names the wrong member. This golden file
// can: every field has a value that no other has.
namespace {

using nlohmann::json;

constexpr const char* kGoldenRun = NL_FIXTURES "/golden/every_value/run.json";

// Fields with few possible values.
const std::set<std::string> kWords = {"binds",   "bound_by", "bound_memory", "kind",     "limit",  "matched_by", "measured_by",
                                      "outcome", "profiler", "scope",        "severity", "status", "style",      "verdict"};

void collect(const json& value, const std::string& key, const std::string& where, std::map<std::string, std::vector<std::string>>& places) {
  if (value.is_object())
    for (const auto& [name, item] : value.items()) collect(item, name, where + "/" + name, places);
  else if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) collect(value[i], key, where + "/" + std::to_string(i), places);
  else if (!value.is_boolean() && !kWords.contains(key)) places[value.dump()].push_back(where);
}

}  // namespace

TEST_CASE("a run with a value of its own in every field is written as the golden run.json", "[golden]") {
  const std::string ours = nl::exporters::run_to_json(nl::test::every_value_run());
  nl::test::check_golden(kGoldenRun, ours);
  const std::string golden = nl::test::read_text(kGoldenRun);
  CHECK(nl::exporters::run_to_json(nl::exporters::run_from_json(golden)) == golden);
}

TEST_CASE("no two fields of that run have the same value, and none is empty") {
  std::map<std::string, std::vector<std::string>> places;
  const auto document = json::parse(nl::exporters::run_to_json(nl::test::every_value_run()));
  collect(document, "", "", places);
  CHECK(places.size() > 400);  // 408 when this was written
  for (const auto& [value, where] : places) {
    INFO(value << " stands at " << where.front() << " and " << where.back());
    CHECK(where.size() == 1);
  }
  for (const char* empty : {"null", "0", "0.0", "\"\""}) CHECK(places.count(empty) == 0);
}

namespace {

// One of everything, as the structs are before they are filled.
nl::Run unfilled_run() {
  nl::Run run;
  run.problems.resize(1);
  run.hardware.gpus.resize(1);
  nl::StageEntry& stage = run.stages.emplace_back();
  stage.budget.emplace();
  stage.activity.emplace();
  nl::HostCode& host = stage.host_code.emplace();
  host.lines.resize(1);
  host.functions.resize(1);
  host.kinds.resize(1);
  host.syncs.resize(1);
  host.os_calls.resize(1);
  host.blame.emplace();
  stage.gaps.resize(1);
  stage.devices.resize(1);
  stage.gpu_spread.emplace();
  stage.communication.resize(1);
  stage.counters.emplace();
  stage.sampling.emplace();
  run.phases.phases.resize(1);
  run.iterations.list.resize(1);
  run.latency.ttft.emplace();
  nl::KernelEntry& kernel = run.kernels.emplace().emplace_back();
  kernel.stages.resize(1);
  kernel.ncu.resize(1);
  kernel.stalls.resize(1);
  run.api.resize(1);
  run.ranges.resize(1);
  nl::OperatorTable& table = run.operators.emplace_back();
  table.entries.resize(1);
  table.entries[0].shapes.resize(1);
  table.entries[0].kernels.resize(1);
  nl::OperatorCall& call = run.operator_steps.emplace_back().calls.emplace_back();
  call.kernels.resize(1);
  call.host_times.emplace();
  call.gpu_times.emplace();
  run.layers.resize(1);
  run.peaks.emplace();
  run.efficiency.resize(1);
  run.efficiency[0].terms.resize(1);
  run.roofline.points.resize(1);
  run.findings.resize(1);
  run.findings[0].evidence.resize(1);
  run.findings[0].prediction.emplace();
  nl::WhatIf& what_if = run.what_if.emplace();
  what_if.predictions.resize(1);
  what_if.sequence.resize(1);
  what_if.now.emplace().host.resize(1);
  what_if.then.emplace().gpu.resize(1);
  run.abstentions.resize(1);
  run.perturbation.stages.resize(1);
  run.energy.stages.resize(1);
  run.energy.devices.resize(1);
  run.host.emplace().frames.resize(1);
  run.host->stacks.resize(1);
  run.timeline.emplace().lanes.resize(1);
  run.timeline->names = {""};
  run.timeline->lanes[0].slices.resize(1);
  run.activity.resize(1);
  run.coverage.devices.resize(1);
  run.provenance.passes.resize(1);
  return run;
}

}  // namespace

TEST_CASE("what nobody filled is written as nothing: zero, null or empty, as the golden run.json says", "[golden]") {
  const std::string ours = nl::exporters::run_to_json(unfilled_run());
  nl::test::check_golden(NL_FIXTURES "/golden/every_value/unfilled.json", ours);
  CHECK(nl::exporters::run_to_json(nl::exporters::run_from_json(ours)) == ours);
}
