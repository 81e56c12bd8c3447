#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "analysis/figures/counters/ncu_match.h"
#include "analysis/figures/operators/operators.h"
#include "exporters/run_json/run_json.h"
#include "orchestrator/bundle/files.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/config/knowledge.h"
#include "parsers/kineto/json.h"
#include "parsers/ncu/csv.h"
#include "parsers/nsys/sqlite.h"
#include "parsers/ort/profile.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/files.h"
#include "tests/unit/golden.h"
#include "tests/unit/unpacked.h"

// From real captures to every file that people read. After a change of the reports run tools/golden, which writes
// them anew, and read the difference.
using nl::test::kLlama;
using nl::test::read_text;
using nl::test::update_if_asked;

namespace {

using nlohmann::json;

// The numbers of a golden run.json may differ in the last bit where one compiler fuses a multiplication
// and an addition and another does not; all else must be equal.
void check_same(const json& ours, const json& golden, const std::string& where) {
  if (ours.is_number_float() && golden.is_number_float()) {
    const double a = ours.get<double>(), b = golden.get<double>();
    if (std::abs(a - b) > 1e-12 * std::max(std::abs(a), std::abs(b))) FAIL_CHECK(where << ": " << a << " instead of " << b);
    return;
  }
  if (ours.type() != golden.type() && !(ours.is_number() && golden.is_number())) {
    FAIL_CHECK(where << ": " << ours.dump() << " instead of " << golden.dump());
  } else if (ours.is_object()) {
    for (const auto& [key, value] : golden.items())
      if (!ours.contains(key)) FAIL_CHECK(where << "/" << key << " is missing");
    for (const auto& [key, value] : ours.items()) {
      if (!golden.contains(key)) FAIL_CHECK(where << "/" << key << " is new");
      else check_same(value, golden.at(key), where + "/" + key);
    }
  } else if (ours.is_array()) {
    if (ours.size() != golden.size()) FAIL_CHECK(where << ": " << ours.size() << " items instead of " << golden.size());
    for (std::size_t i = 0; i < std::min(ours.size(), golden.size()); ++i) check_same(ours[i], golden[i], where + "/" + std::to_string(i));
  } else if (ours != golden) {
    FAIL_CHECK(where << ": " << ours.dump() << " instead of " << golden.dump());
  }
}

nl::orchestrator::Config config_of(const std::string& model) {
  nl::orchestrator::ConfigRequest request;
  request.model_file = model;
  return nl::orchestrator::load_config(request);
}

nl::Run analysed(const nl::Trace& trace, const nl::orchestrator::Config& config) {
  nl::Run run;
  run.run_id = "golden";
  run.name = "golden";
  run.model = {config.model.name, config.model.attributes};
  run.provenance.tracer = nl::Tracer::kImport;
  const nl::analysis::AnalysisOptions options = nl::orchestrator::analysis_options(config);
  nl::analysis::summarise(trace, options, run);
  nl::analysis::add_operators(trace, {}, run);
  nl::analysis::add_layers(trace, run);
  nl::analysis::add_operator_steps(trace, options.warmup, "", run);
  return run;
}

// A step has hundreds of calls: the golden files have enough of them to be read.
void shorten_steps(nl::Run& run) {
  constexpr std::size_t kShown = 30;
  for (nl::OperatorStep& step : run.operator_steps) {
    if (step.calls.size() <= kShown) continue;
    step.calls_left_out += step.calls.size() - kShown;
    step.calls.resize(kShown);
  }
}

void check_golden(const std::string& name, const nl::orchestrator::Config& config, nl::Run& run) {
  shorten_steps(run);
  run = nl::analysis::explained(std::move(run), nl::orchestrator::load_knowledge(config));
  const std::string folder = std::string(NL_FIXTURES) + "/golden/" + name + "/";
  const std::string text = nl::exporters::run_to_json(run);
  nl::orchestrator::validate_run_json(text);
  update_if_asked(folder + "run.json", text);
  const std::string golden = read_text(folder + "run.json");
  REQUIRE_FALSE(golden.empty());
  check_same(json::parse(text), json::parse(golden), "");
  nl::orchestrator::write_reports(run, {}, [&](const std::filesystem::path& file, std::string_view report) {
    if (file.extension() == ".md")
      nl::test::check_golden(folder + file.string(), std::string(report));  // the page is looked at in tests/browser
  });
}

}  // namespace

TEST_CASE("nsys, ncu and torch.profiler's operators of a Llama", "[golden]") {
  const nl::orchestrator::Config config = config_of(kLlama + "model.yaml");
  const auto trace = nl::parsers::read_nsys_sqlite(kLlama + "nsys.sqlite");
  nl::Run run = analysed(trace, config);
  nl::analysis::add_operator_table_from(nl::parsers::read_kineto_json(kLlama + "kineto.json.gz"), "kineto", "kineto.json.gz", run);
  nl::analysis::match_ncu(nl::parsers::read_ncu_csv(kLlama + "ncu_prefill_raw.csv"), trace, run);
  nl::analysis::match_ncu(nl::parsers::read_ncu_csv(kLlama + "ncu_decode_raw.csv"), trace, run);
  check_golden("h200-llama", config, run);
}

// Vision and projector before the prompt, batch and prompt by the workload's marks, modules as layers, tensor FLOPs by ncu.
TEST_CASE("a vision-language model, its shape by its own config.json", "[golden]") {
  const std::string folder = NL_FIXTURES "/h200-llava/";
  const nl::orchestrator::Config config = config_of(folder + "config.json");
  const Unpacked sqlite(folder + "nsys.sqlite.gz");
  const auto trace = nl::parsers::read_nsys_sqlite(sqlite.file);
  nl::Run run = analysed(trace, config);
  nl::analysis::match_ncu(nl::parsers::read_ncu_csv(folder + "ncu_raw.csv"), trace, run);
  check_golden("h200-llava", config, run);
}

TEST_CASE("torch.profiler's trace alone", "[golden]") {
  const nl::orchestrator::Config config = config_of(kLlama + "model.yaml");
  nl::Run run = analysed(nl::parsers::read_kineto_json(kLlama + "kineto.json.gz"), config);
  check_golden("kineto", config, run);
}

TEST_CASE("ONNX Runtime's profile alone", "[golden]") {
  const nl::orchestrator::Config config = config_of("generic");
  nl::Run run = analysed(nl::parsers::read_ort_profile(NL_FIXTURES "/onnxruntime/profile.json"), config);
  check_golden("onnxruntime", config, run);
}
