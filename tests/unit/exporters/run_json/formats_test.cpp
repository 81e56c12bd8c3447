#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "exporters/run_json/parts.h"
#include "exporters/run_json/run_json.h"
#include "model/run_metrics.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

// What earlier versions of nl-stage wrote is still read. tests/fixtures/formats has a file for each format, as it was written.
using nl::test::read_text;

namespace {

using nlohmann::json;

nl::Run old_run(const std::string& name) {
  const std::string text = read_text(NL_FIXTURES "/formats/" + name + ".json");
  REQUIRE_FALSE(text.empty());
  return nl::exporters::run_from_json(text);
}

// Sentences that have been rewritten since 2.1.0, and what stands in for them.
bool is_sentence(const std::string& text) { return text.find(' ') != std::string::npos; }

// Every number, name and count as it is; sentences only as being there.
json without_sentences(const json& value) {
  if (value.is_string()) return is_sentence(value.get<std::string>()) ? json("a sentence") : value;
  if (value.is_object() && value.contains("details")) return "a sentence";  // a remark, which format 2 had as a sentence
  json out = value;
  if (value.is_structured())
    for (auto& [key, item] : out.items()) item = without_sentences(item);
  return out;
}

// By part of the file, so that a failure names it. What rules conclude is another matter: they have changed since.
void check_same_parts(const json& ours, const json& expected, bool conclusions = true) {
  for (const auto& [key, value] : expected.items()) {
    if (key == "schema_version" || (!conclusions && (key == "findings" || key == "abstentions"))) continue;
    INFO(key);
    json now = value;
    if (key == "perturbation") {  // until format 3.5 the limit was 10 %, and sentences named it
      now["limit"] = 0.10;
      for (std::size_t i = 0; i < now["stages"].size(); ++i) now["stages"][i]["summary"] = ours.at(key).at("stages").at(i).at("summary");
    }
    CHECK(ours.at(key) == now);
  }
}

// Every value of the old file stands where it stood; fields may have been added since.
void check_all_kept(const json& ours, const json& old, const std::string& where) {
  INFO(where);
  if (old.is_object()) {
    REQUIRE(ours.is_object());
    for (const auto& [key, value] : old.items()) {
      REQUIRE(ours.contains(key));
      check_all_kept(ours.at(key), value, where + "/" + key);
    }
  } else if (old.is_array()) {
    REQUIRE(ours.is_array());
    REQUIRE(ours.size() == old.size());
    for (std::size_t i = 0; i < old.size(); ++i) check_all_kept(ours[i], old[i], where + "/" + std::to_string(i));
  } else if (ours != old && !(old == "over 10 %" && ours == "over the limit") && !(old == "under 10 %" && ours == "under the limit")) {
    CHECK(ours == old);
  }
}

json no_summary() {
  json out = {{"top_finding", nullptr}};
  for (const nl::RunMetricInfo& info : nl::run_metric_table())
    if (!info.uses.summary.empty()) out[std::string(info.key)] = nullptr;
  return out;
}

// The words of backend and precision until format 3.5, where they stand today.
json with_codes(json old) {
  if (auto& model = old["model"]; model.contains("precision")) {
    model["precision_text"] = model["precision"];
    model.erase("precision");
  }
  if (auto& software = old["software"]; software.contains("backend") && software["backend"].is_string())
    software["backend_text"] = std::exchange(software["backend"], "other");
  return old;
}

}  // namespace

TEST_CASE("nothing of a real run.json of 2.1.0 is lost") {
  const nl::Run run = old_run("h200-llava-2.1.0");
  CHECK(run.schema_version == "2.1.0");
  const auto ours = json::parse(nl::exporters::run_to_json(run));
  auto old = json::parse(read_text(NL_FIXTURES "/formats/h200-llava-2.1.0.json"));
  for (json* rows : {&old["import_stats"]["rows_damaged"], &old["ncu_rows_damaged"]}) {
    REQUIRE(rows->empty());
    *rows = json::array();  // were an object
  }
  REQUIRE(old["latency"]["ttft"].is_object());
  old["latency"]["prefill"] = std::exchange(old["latency"]["ttft"], nullptr);  // was called so, whether an arrival was known or not
  old.erase("schema_version");
  check_all_kept(without_sentences(ours), without_sentences(old), "");
}

TEST_CASE("a run.json of 2.1.0 with counters, samples and overhead comes back as the run that was written") {
  const auto ours = json::parse(nl::exporters::run_to_json(old_run("rich-2.1.0")));
  nl::Run rich = nl::test::rich_run();
  const nl::Workload known = std::exchange(rich.workload, {});  // its kind came with 3.3.0
  rich.workload = {known.command, known.working_directory, known.exit_status, known.repository};
  rich.what_if.reset();      // came with 3.7.0
  rich.median_step.reset();  // came with 3.8.0
  check_same_parts(ours, json::parse(nl::exporters::run_to_json(rich)), false);
  const auto full = json::parse(nl::exporters::run_to_json(old_run("full-2.1.0")));
  auto expected = json::parse(nl::exporters::run_to_json(nl::test::full_run()));
  expected["problems"][0]["code"] = "error";  // format 2 has no codes
  expected["provenance"]["counters_missing"] = nullptr;
  for (json& stage : expected["stages"]) stage["launch_waits"] = stage["host_code"] = nullptr;  // came with 3.0.0, as these
  for (json& stage : expected["stages"]) stage["gaps"] = json::array();                         // came with 3.3.0
  for (json& stage : expected["stages"]) stage["series"] = {{"wall_ns", json::array()}, {"windows_each", 1}, {"throttled", 0}};
  for (json& kernel : expected["kernels"]) kernel["measured"] = json::array(), kernel["measured_ns"] = kernel["measured_calls"] = nullptr;
  for (json& kernel : expected["kernels"]) kernel["kind"] = "other";
  expected["host"] = expected["session"] = expected["energy"]["devices"][0]["power_limit_w"] = nullptr;
  expected["summary"] = no_summary();  // came with 3.1.0
  expected["software"]["backend"] = nullptr;
  expected["operator_steps"] = json::array();
  expected["operators"][0]["entries"][0]["shapes"][0]["dtypes"] = nullptr;
  expected["software"]["versions"] = json::object();
  for (const char* key : {"cause", "same_cause_as", "part_of", "action", "gain_per_window_ns", "gain_per_token_ns", "prediction"})
    expected["findings"][0][key] = nullptr;
  expected["what_if"] = nullptr;
  expected["latency"]["ttft"] = nullptr;  // format 2 does not say whether the arrival was known
  check_same_parts(full, expected);
}

// Real, cut down to two kernels and two findings. Until 3.1.0 fields were added without a new number.
TEST_CASE("nothing of a real run.json of 3.0.0 is lost, and what was added since is absent") {
  for (const char* name : {"h200-llama-3.0.0", "every-value-3.0.0"}) {
    INFO(name);
    const nl::Run run = old_run(name);
    CHECK(run.schema_version == "3.0.0");
    CHECK_FALSE(run.stages.empty());
    for (const nl::StageEntry& stage : run.stages) CHECK(stage.series.wall_ns.empty());
    REQUIRE(run.kernels);
    CHECK_FALSE(run.kernels->empty());
    for (const nl::KernelEntry& kernel : *run.kernels) CHECK((kernel.measured.empty() && !kernel.measured_ns && !kernel.measured_calls));
    for (const nl::ClockSummary& device : run.energy.devices) CHECK(device.power_limit_w == std::nullopt);
    const auto ours = json::parse(nl::exporters::run_to_json(run));
    CHECK(ours["summary"] == no_summary());
    check_all_kept(ours, with_codes(json::parse(read_text(NL_FIXTURES "/formats/" + std::string(name) + ".json"))), "");
  }
  CHECK(old_run("every-value-3.0.0").energy.devices.size() == 1);
}

TEST_CASE("a file of this format without the fields that came with it is refused, with the place") {
  for (const char* pointer :
       {"/summary", "/stages/0/series", "/kernels/0/measured", "/kernels/0/measured_ns", "/kernels/0/measured_calls",
        "/energy/devices/0/power_limit_w", "/what_if", "/what_if/then", "/what_if/predictions/0/ceiling", "/findings/0/prediction"}) {
    INFO(pointer);
    auto document = json::parse(nl::exporters::run_to_json(nl::test::full_run()));
    const json::json_pointer place(pointer);
    document.at(place.parent_pointer()).erase(place.back());
    try {
      nl::exporters::run_from_json(document.dump());
      FAIL("it was read");
    } catch (const nl::Error& error) {
      CHECK(error.message.find("no '" + place.back() + "'") != std::string::npos);
    }
    document["schema_version"] = "3.0.0";
    CHECK(nl::exporters::run_from_json(document.dump()).run_id == nl::test::full_run().run_id);
  }
}

TEST_CASE("a remark has its code and its sentence; a note of format 2 is read as one without a code of its own") {
  using nl::exporters::JsonReader, nl::exporters::JsonWriter;
  const std::vector<nl::Remark> remarks = {{nl::Code::kToolNotFound, {"ncu"}, "logs/ncu.log"}};
  JsonWriter writer;
  writer.put(remarks);
  const json document = json::parse(std::move(writer).take());
  CHECK(document[0]["code"] == "tool-not-found");
  CHECK(document[0]["text"] == "ncu was not found.");
  std::vector<nl::Remark> again, old;
  JsonReader(document, false).get(again);
  CHECK(again == remarks);
  const json notes = {"the trace was cut"};
  JsonReader(notes, true).get(old);
  CHECK(old == std::vector<nl::Remark>{{nl::Code::kNote, {"the trace was cut"}, {}}});
  CHECK(nl::text_of(old.at(0)) == "the trace was cut");
  CHECK_THROWS_AS(JsonReader(notes, false).get(old), nl::Error);
}

TEST_CASE("damaged rows are counted under a code; those of format 2 under their sentence") {
  using nl::exporters::JsonReader, nl::exporters::JsonWriter;
  const nl::DamagedRows damaged = {{{nl::Code::kNoThread, {"range"}, "kineto"}, 3}, {{nl::Code::kUnknownUnit, {"Xbyte"}}, 1}};
  JsonWriter writer;
  writer.put(damaged);
  const json document = json::parse(std::move(writer).take());
  REQUIRE(document.size() == 2);
  CHECK(document[0] ==
        json{{"code", "no-thread"}, {"text", "range without a thread"}, {"details", {"range"}}, {"where", "kineto"}, {"rows", 3}});
  nl::DamagedRows again, old;
  JsonReader(document, false).get(again);
  CHECK(again == damaged);
  const json sentences = {{"a row was cut off", 2}};
  JsonReader(sentences, true).get(old);
  CHECK(old == nl::DamagedRows{{{nl::Code::kNote, {"a row was cut off"}}, 2}});
  CHECK_THROWS_AS(JsonReader(sentences, false).get(old), nl::Error);
}

TEST_CASE("until format 3.5 backend and precision are words of any kind: they become codes, and no word is lost") {
  const auto read = [](const char* backend, const char* precision) {
    auto document = json::parse(nl::exporters::run_to_json(nl::Run()));
    document["schema_version"] = "3.5.0";
    document["software"].erase("backend_text");
    document["software"]["backend"] = backend;
    for (const char* key : {"weights_precision", "compute_precision", "precision_text", "digest", "dtypes"}) document["model"].erase(key);
    document["model"]["precision"] = precision;
    return nl::exporters::run_from_json(document.dump());
  };
  const nl::Run known = read("vllm", "int4 weights (gptq), bf16 compute");
  CHECK(known.software.backend.code == nl::Backend::kVllm);
  CHECK(known.model.precision == "int4 weights (gptq), bf16 compute");
  CHECK(known.model.weights_precision == nl::DataType::kInt4);
  CHECK(known.model.compute_precision == nl::DataType::kBf16);
  const auto other = json::parse(nl::exporters::run_to_json(read("whatever", "banana")));
  CHECK(other["software"]["backend"] == "other");
  CHECK(other["software"]["backend_text"] == "whatever");
  CHECK(other["model"]["weights_precision"] == "other");
  CHECK(other["model"]["precision_text"] == "banana");
}

TEST_CASE("a file of 3.6 has no predictions, and is read without") {
  auto document = json::parse(nl::exporters::run_to_json(nl::test::rich_run()));
  document["schema_version"] = "3.6.0";
  document.erase("what_if");
  for (json& finding : document["findings"]) finding.erase("prediction");
  const nl::Run run = nl::exporters::run_from_json(document.dump());
  CHECK_FALSE(run.what_if);
  REQUIRE(run.findings.size() == nl::test::rich_run().findings.size());
  for (const nl::Finding& finding : run.findings) CHECK_FALSE(finding.prediction);
}

TEST_CASE("predictions come back as they were written; one that was refused has no times") {
  const nl::Run run = nl::test::rich_run();
  const auto document = json::parse(nl::exporters::run_to_json(run));
  const auto& refused = document.at("what_if").at("predictions").at(3);
  CHECK(refused.at("refused") == "nothing to change");
  for (const char* key : {"predicted_ns", "low_ns", "high_ns", "binds"}) CHECK(refused.at(key).is_null());
  CHECK(document.at("what_if").at("predictions").at(0).at("assumptions") == json{"graph drops host code", "tracer per launch"});
  CHECK(document.at("what_if").at("now").at("host").at(1) == json{{"start_ns", 0.9e6}, {"end_ns", 2.1e6}, {"kind", "launches"}});
  const nl::Run again = nl::exporters::run_from_json(document.dump());
  REQUIRE(again.what_if);
  CHECK(again.what_if->predictions.at(3).refused == nl::NoPrediction::kNothingToChange);
  CHECK(again.what_if->predictions.at(3).predicted_ns == 0);
  CHECK(again.what_if->predictions.at(0).assumptions == run.what_if->predictions.at(0).assumptions);
  CHECK(again.what_if->predictions.at(2).ceiling);
  CHECK(again.what_if->then->gpu.at(0).end_ns == 1.15e6);
  CHECK(again.findings.at(1).prediction->changes == std::vector<std::string>{"--fuse elementwise"});
  auto wrong = document;
  wrong["what_if"]["predictions"][0]["assumptions"][0] = "magic";
  try {
    nl::exporters::run_from_json(wrong.dump());
    FAIL("it was read");
  } catch (const nl::Error& error) {
    CHECK(error.message.find("an unknown word, 'magic'") != std::string::npos);
  }
}
