#include "exporters/run_json.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"

using nlohmann::json;

TEST_CASE("a run survives the way to JSON and back") {
  const auto run = nl::test::full_run();
  const std::string text = nl::run_to_json(run);
  const auto again = nl::run_from_json(text);
  CHECK(nl::run_to_json(again) == text);
  REQUIRE(again.kernels);
  REQUIRE(again.kernels->size() == 1);
  const auto& kernel = (*again.kernels)[0];
  CHECK(kernel.time.mean_ns == run.kernels->at(0).time.mean_ns);
  CHECK(kernel.ncu.at(0).metrics == run.kernels->at(0).ncu.at(0).metrics);
  CHECK(kernel.ncu.at(0).grid == nl::Dim3{8, 12, 1});
  CHECK(kernel.ncu.at(0).tensor_pct == std::nullopt);
  CHECK(again.status == nl::RunStatus::kPartial);
  CHECK(again.ranges.at(0).style == nl::RangeStyle::kStartEnd);
  CHECK(again.workload.exit_status == 3);
  CHECK(again.provenance.passes.at(0).exit_status == std::nullopt);
  CHECK(again.hardware.gpus.at(0).memory_bytes == 150120103936);
  CHECK(again.stages.at(0).gpu_busy_ns == 900);
  CHECK(again.coverage.graph_only_share == std::nullopt);
}

TEST_CASE("the keys stand in the documented order") {
  const auto document = nlohmann::ordered_json::parse(nl::run_to_json(nl::test::full_run()));
  std::vector<std::string> keys;
  for (const auto& [key, value] : document.items()) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"schema_version", "run_id", "created_at", "status", "problems", "name", "mode", "hardware",
                                         "software", "model", "workload", "stages", "kernels", "kernels_note", "api", "ranges",
                                         "coverage", "import_stats", "ncu_rows_damaged", "provenance"});
  keys.clear();
  for (const auto& [key, value] : document.at("kernels").at(0).items()) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"name", "mangled_name", "short_name", "device", "total_ns", "calls", "mean_ns", "median_ns",
                                         "p99_ns", "min_ns", "max_ns", "stddev_ns", "gpu_share", "graph_calls", "stages", "selected",
                                         "ncu", "ncu_note"});
}

TEST_CASE("not captured is null") {
  nl::Run run;
  run.stages.push_back({"prefill", {"LLM:prefill"}, {}, {}, {}, {}, 1});
  const auto document = json::parse(nl::run_to_json(run));
  CHECK(document.at("kernels").is_null());
  CHECK(document.at("coverage").at("gpu_busy_ns").is_null());
  CHECK(document.at("stages").at(0).at("gpu_busy_ns").is_null());
  CHECK(document.at("stages").at(0).at("mean_ns").is_null());
  CHECK(document.at("hardware").at("cpu_count").is_null());
  CHECK(document.at("workload").at("exit_status").is_null());
  CHECK(document.at("software").at("ncu_version").is_null());
  run.kernels.emplace();
  CHECK(json::parse(nl::run_to_json(run)).at("kernels").is_array());
  CHECK(nl::run_from_json(nl::run_to_json(run)).kernels->empty());
}

TEST_CASE("text that is not UTF-8 and numbers that are none do no harm") {
  auto run = nl::test::full_run();
  run.kernels->at(0).name = "kernel\xff\xfe<\xc3>";
  run.workload.command = {"a\x80\nb", "\"quoted\"", std::string("nul\0l", 5)};
  run.kernels->at(0).ncu[0].sm_pct = std::numeric_limits<double>::quiet_NaN();
  run.coverage.in_stage_share = std::numeric_limits<double>::infinity();
  const auto again = nl::run_from_json(nl::run_to_json(run));
  CHECK(again.kernels->at(0).name == "kernel\xef\xbf\xbd\xef\xbf\xbd<\xef\xbf\xbd>");
  CHECK(again.workload.command[2] == std::string("nul\0l", 5));
  CHECK(again.kernels->at(0).ncu[0].sm_pct == std::nullopt);
  CHECK(again.coverage.in_stage_share == std::nullopt);
}

TEST_CASE("what is no run.json is refused") {
  const auto kind_of = [](const std::string& text) {
    try {
      nl::run_from_json(text);
    } catch (const nl::Error& error) {
      return error.kind;
    }
    return nl::ErrorKind::kInternal;
  };
  CHECK(kind_of("") == nl::ErrorKind::kInput);
  CHECK(kind_of("[1, 2]") == nl::ErrorKind::kInput);
  CHECK(kind_of("{}") == nl::ErrorKind::kInput);
  std::string text = nl::run_to_json(nl::test::full_run());
  CHECK(kind_of(text.substr(0, text.size() / 2)) == nl::ErrorKind::kInput);
  auto document = json::parse(text);
  document["schema_version"] = "2.0.0";
  CHECK(kind_of(document.dump()) == nl::ErrorKind::kInput);
  document["schema_version"] = "1.7.0";
  CHECK(nl::run_from_json(document.dump()).schema_version == "1.7.0");
  document["status"] = "splendid";
  CHECK(kind_of(document.dump()) == nl::ErrorKind::kInput);
}
