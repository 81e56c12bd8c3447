#include <regex>

#include "exporters/report/reports.h"
#include "exporters/run_json/run_json.h"
#include "model/words.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

using nl::Run;
using nl::WorkloadKind;
using nl::test::has;

namespace {

// A run with all its parts, of another kind of program: its stages have other names.
Run rich_run_of(WorkloadKind kind, const std::string& unit) {
  Run run = nl::test::rich_run();
  run.findings.clear();
  run.abstentions.clear();  // the rules have a test of their own
  run.what_if = nl::test::sample_what_if(unit.empty() ? "last" : unit);
  std::string text = nl::exporters::run_to_json(run);
  const auto rename = [&](const char* value, const std::string& to) {  // values, not keys
    text = std::regex_replace(text, std::regex(std::string("\"(LLM:)?") + value + "\"(?!:)"), "\"" + to + "\"");
  };
  rename("decode_step", unit.empty() ? "last" : unit);
  rename("decode(_all)?", "rest");
  rename("prefill", "first");
  run = nl::exporters::run_from_json(text);
  run.workload.command = {"python3", "work.py"};
  for (nl::StageEfficiency& stage : run.efficiency)
    stage.terms.clear(), stage.assumptions.clear();  // of prompts, as the analysis made them
  run.workload.verdict = {kind, 1, {}, unit};
  if (unit.empty()) run.latency = {};  // with figures of tokens it would be an older file of a program that generates
  run.latency.notes = {"no TTFT: no prefill was measured"};
  for (nl::StageEntry& stage : run.stages) stage.tokens_per_window = stage.tokens_per_s = 7;  // of whatever they are
  return run;
}

// The columns of a page's wide tables are in the text of no report.
std::string all_reports(const Run& run) {
  return nl::exporters::report_markdown(run) + nl::exporters::stakeholder_markdown(run) + nl::exporters::kernels_markdown(run) +
         nl::exporters::operators_markdown(run);
}

const std::regex kGenerationWords(R"((^|[^a-zA-Z_])(tokens?|prompts?|prefill\w*|decod\w*|TTFT|TPOT|KV cache|requests?)([^a-zA-Z]|$))",
                                  std::regex::icase);

}  // namespace

TEST_CASE("reports of programs that do not generate have no word of generation") {
  const std::tuple<WorkloadKind, const char*, const char*> kKinds[] = {{WorkloadKind::kTraining, "train_step", "training steps"},
                                                                       {WorkloadKind::kEncoding, "batch", "batches"},
                                                                       {WorkloadKind::kDiffusion, "denoise_step", "denoising steps"},
                                                                       {WorkloadKind::kCollective, "step", "steps"},
                                                                       {WorkloadKind::kUnknown, "step", "steps"},
                                                                       {WorkloadKind::kUnknown, "", ""}};
  for (const auto& [kind, unit, words] : kKinds) {
    CAPTURE(nl::key_of(kind), unit);
    const std::string text = all_reports(rich_run_of(kind, unit));
    std::smatch found;
    std::string line;
    if (std::regex_search(text, found, kGenerationWords)) {
      const auto at = static_cast<std::size_t>(found.position(0));
      line = text.substr(at - std::min<std::size_t>(at, 120), 240);
    }
    CHECK(line == "");
    CHECK(has(text, words));
  }
  CHECK(std::regex_search(all_reports(nl::test::rich_run()), kGenerationWords));  // and of one that does, it has
}

TEST_CASE("a program has no word of its own as a verb: a script called train does not train") {
  Run run = rich_run_of(WorkloadKind::kTraining, "train_step");
  run.model.name.clear();
  run.name = "train";
  CHECK(has(nl::exporters::stakeholder_markdown(run), "train takes 30 training steps of "));
}

TEST_CASE("copies that fill a cache in generation are called by what they do elsewhere") {
  Run run = nl::test::rich_run();
  (*run.kernels)[0].kind = nl::KernelClass::kCacheCopy;
  (*run.kernels)[0].measured = {{"decode_step", 1000, 10}};
  CHECK(has(nl::exporters::report_markdown(run), "| KV cache writes |"));
  run.workload.verdict.kind = WorkloadKind::kTraining;
  CHECK(has(nl::exporters::report_markdown(run), "| joining and indexed writes |"));
}
