#include "exporters/answer/answer.h"

#include <nlohmann/json.hpp>

#include <numeric>

#include "exporters/report/reports.h"
#include "exporters/report/sections/executive_summary.h"
#include "exporters/run_json/run_json.h"
#include "model/visible_text.h"
#include "tests/catch.h"
#include "tests/unit/exporters/every_value_run.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/golden.h"

// The answer about made-up runs and about those of real captures.
using namespace nl;
using namespace nl::exporters;
using nl::test::has;
using nlohmann::json;

namespace {

Run golden_run(const char* name) { return run_from_json(test::read_text(test::kGolden + name + "/run.json")); }

struct NamedRun {
  const char* name;
  Run run;
};

std::vector<NamedRun> all_runs() {
  std::vector<NamedRun> runs = {{"rich", test::rich_run()},     {"full", test::full_run()},         {"host", test::host_run()},
                                {"sparse", test::sparse_run()}, {"every", test::every_value_run()}, {"none", Run()}};
  for (const char* name : {"h200-llama", "h200-llava", "kineto", "onnxruntime"}) runs.push_back({name, golden_run(name)});
  return runs;
}

// Without those of evidence where the run was made up: it names places that the run does not have.
void collect_pointers(const json& node, bool made_up, std::vector<std::string>& pointers) {
  if (made_up && node.is_object() && node.contains("held")) return;
  if (node.is_object() && node.contains("pointer") && node.at("pointer").is_string()) pointers.push_back(node.at("pointer"));
  if (node.is_structured())
    for (const json& child : node) collect_pointers(child, made_up, pointers);
}

std::string text_of(const std::vector<AnswerLine>& lines) {
  std::string text;
  for (const AnswerLine& line : lines) {
    for (const AnswerPiece& piece : line) text += piece.text;
    text += "\n";
  }
  return text;
}

std::string answer_text(const Run& run, std::size_t width) { return text_of(answer_lines(answer_of(run), width)); }

}  // namespace

TEST_CASE("schema/answer.schema.json is what the declared fields make of it", "[golden]") {
  test::check_golden(NL_SOURCE_ROOT "/schema/answer.schema.json", answer_schema());
}

TEST_CASE("answer: of a made-up run and of real captures, as JSON and in lines", "[golden]") {
  for (const char* name : {"h200-llama", "h200-llava", "onnxruntime"}) {
    test::check_golden(test::kGolden + name + "/answer.json", answer_to_json(answer_of(golden_run(name))));
    test::check_golden(test::kGolden + name + "/answer.txt", answer_text(golden_run(name), 80));
  }
  test::check_golden(test::kGolden + "rich/answer.json", answer_to_json(answer_of(test::rich_run())));
  test::check_golden(test::kGolden + "rich/answer.txt", answer_text(test::rich_run(), 80));
}

TEST_CASE("answer: every pointer leads to something in run.json") {
  for (const auto& [name, run] : all_runs()) {
    INFO(name);
    const json document = json::parse(run_to_json(run)), answer = json::parse(answer_to_json(answer_of(run)));
    std::vector<std::string> pointers;
    collect_pointers(answer, !has(run.run_id, "golden"), pointers);
    if (run.findings.size() > 1) CHECK(pointers.size() > 2);
    for (const std::string& pointer : pointers) {
      INFO(pointer);
      CHECK(document.contains(json::json_pointer(pointer)));
    }
  }
}

TEST_CASE("answer: its sentences are those of the reports") {
  for (const auto& [name, run] : all_runs()) {
    INFO(name);
    const Answer answer = answer_of(run);
    CHECK(answer.summary == report::executive_summary(run));
    REQUIRE(answer.lead < std::max<std::size_t>(answer.summary.size(), 1));
    if (!answer.summary.empty()) CHECK(answer.summary[answer.lead] != report::tracing_sentence(run));
  }
  const Run run = golden_run("h200-llama");
  const std::string page = stakeholder_markdown(run);
  for (const std::string& sentence : answer_of(run).summary) CHECK(has(page, sentence.substr(0, 60)));
}

TEST_CASE("answer: the figures are those of run.json") {
  const Run run = golden_run("h200-llama");
  const json document = json::parse(run_to_json(run)), answer = json::parse(answer_to_json(answer_of(run)));
  const json& stage = document.at(json::json_pointer(answer["unit"]["pointer"].get<std::string>()));
  CHECK(stage["name"] == "decode_step");
  CHECK(answer["unit"]["traced_median_ms"].get<double>() * 1e6 == Approx(stage["median_ns"].get<double>()));
  CHECK(answer["unit"]["windows"] == stage["count"]);
  const json& budget = document.at(json::json_pointer(answer["budget"]["pointer"].get<std::string>()));
  double share = 0, ms = 0;
  for (const json& bin : answer["budget"]["bins"]) {
    const double ns = budget[bin["bin"].get<std::string>() + "_ns"];
    CHECK(bin["share"].get<double>() == Approx(ns / budget["wall_ns"].get<double>()).margin(1e-4));
    share += bin["share"].get<double>();
    ms += bin["ms"].get<double>();
  }
  CHECK(share == Approx(1).margin(1e-3));
  CHECK(ms == Approx(answer["budget"]["window_ms"].get<double>()).margin(1e-5));
  CHECK(answer["findings"][0]["rule"] == document["findings"][0]["rule"]);
  CHECK(answer["findings"][0]["message"] == document["findings"][0]["message"]);
}

TEST_CASE("answer: what has no room is counted, and the whole stays within its bounds") {
  Run run = test::large_run(50, 50, 10, 200);
  const std::string hostile(20'000, '\x01');
  run.name = run.model.name = hostile;
  for (Finding& finding : run.findings) {
    finding.message = finding.plain = finding.action = hostile;
    finding.subject = hostile;
    finding.evidence = std::vector<FindingEvidence>(50, {hostile, true, true, "/findings/0", {}, {}});
  }
  run.problems = std::vector<Problem>(300, {Code::kError, hostile, hostile, hostile});
  run.workload.command = {hostile};
  Answer answer = answer_of(run);
  answer.bundle = "/runs/one";
  for (int i = 0; i < 500; ++i) answer.files.push_back("collector/" + std::to_string(i) + hostile.substr(0, 50));
  answer.tags = {hostile};
  answer.notes = std::vector<AnswerNote>(50, {"2026-11-18T00:00:00Z", hostile});
  const std::string text = answer_to_json(answer);
  CHECK(text.size() <= kAnswerBytes + answer.bundle.size());
  const json document = json::parse(text);
  CHECK(document["run_id"] == run.run_id);
  CHECK(document["left_out"]["findings"].get<std::size_t>() + document["findings"].size() == run.findings.size());
  CHECK(document["left_out"]["problems"].get<std::size_t>() + document["problems"].size() == run.problems.size());
  CHECK(document["left_out"]["files"].get<std::size_t>() + document["files"].size() == answer.files.size());
}

TEST_CASE("answer: every run has one within the bounds, and more room shows more") {
  for (const auto& [name, run] : all_runs()) {
    INFO(name);
    const Answer answer = answer_of(run);
    CHECK(answer_to_json(answer).size() <= kAnswerBytes);
    const json narrow = json::parse(answer_to_json(answer, 3000)), wide = json::parse(answer_to_json(answer, 100'000));
    CHECK(narrow["findings"].size() <= wide["findings"].size());
    CHECK(wide["summary"] == json(answer.summary));
  }
  const json llama = json::parse(answer_to_json(answer_of(golden_run("h200-llama"))));
  CHECK(llama["actions"].size() >= 2);
  CHECK(llama["findings"].size() >= 3);
}

TEST_CASE("answer: metrics are there where they are asked for, and do not count") {
  Answer answer = answer_of(test::rich_run());
  CHECK(json::parse(answer_to_json(answer))["metrics"].is_null());
  answer.metrics.emplace();
  for (int i = 0; i < 500; ++i) answer.metrics->emplace("kernel." + std::to_string(i), i);
  const json document = json::parse(answer_to_json(answer));
  CHECK(document["metrics"].size() == 500);
  CHECK(document["findings"] == json::parse(answer_to_json(answer_of(test::rich_run())))["findings"]);
}

TEST_CASE("answer: its lines fit a terminal, also with tags and notes") {
  for (const std::size_t width : {60, 80, 120, 200})
    for (const auto& [name, run] : all_runs()) {
      INFO(name << " at " << width);
      Answer answer = answer_of(run);
      answer.tags = {"baseline", "v1"};
      answer.notes = {{"2026-11-18T00:00:00Z", std::string(300, 'x') + " words"}};
      const auto lines = answer_lines(answer, width);
      CHECK(lines.size() <= kAnswerLines);
      for (const AnswerLine& line : lines) {
        std::size_t places = 0;
        for (const AnswerPiece& piece : line) places += columns_of(piece.text);
        CHECK(places <= width);
      }
    }
}

TEST_CASE("answer: a pipe gets each item whole on a line of its own") {
  const Run run = golden_run("h200-llama");
  const Answer answer = answer_of(run);
  const std::string text = answer_text(run, 0);
  CHECK(has(text, answer.summary[answer.lead] + "\n"));
  for (std::size_t i = 0; i < answer.actions.size(); ++i) CHECK(has(text, "\n" + std::to_string(i + 1) + ". "));
  CHECK_FALSE(has(text, "…"));
}

TEST_CASE("answer: the bar has a place for every sixtieth of the time") {
  const Answer answer = answer_of(golden_run("h200-llama"));
  REQUIRE(answer.budget);
  bool found = false;
  for (const AnswerLine& line : answer_lines(answer, 80)) {
    if (line.front().text.find("█") != 0) continue;
    found = true;
    std::size_t places = 0;
    for (const AnswerPiece& piece : line) places += columns_of(piece.text);
    CHECK(places == 60);
    const double compute = answer.budget->bins.front().share * 60;
    CHECK(std::abs(static_cast<double>(columns_of(line.front().text)) - compute) <= 1);
    break;
  }
  CHECK(found);
}

TEST_CASE("answer: of a run that failed the first line says so") {
  Run run = test::rich_run();
  run.status = RunStatus::kFailed;
  run.problems = {{Code::kWorkloadFailed, "python3 ended with status 1", "logs/nsys.stderr.log", "Run it alone first."}};
  const std::string text = answer_text(run, 80);
  CHECK(has(text, ": failed\nThe workload failed: python3 ended with status 1"));
}

TEST_CASE("summary: a program that ended well and left nothing to capture has not failed") {
  Run run;
  run.status = RunStatus::kFailed;
  run.workload.exit_status = 0;
  run.problems = {{Code::kCollectorSilent, "The collector recorded nothing.", "collector/", ""}};
  CHECK(report::executive_summary(run).front() == "The workload ended by itself with status 0, but nothing of it was captured.");
  run.workload.exit_status = 1;
  CHECK(has(report::executive_summary(run).front(), "The run failed"));
}
