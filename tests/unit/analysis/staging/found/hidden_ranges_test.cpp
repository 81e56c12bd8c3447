// Captures of a real GPU whose ranges are hidden: what is inferred must be what they mark.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/staging/found/sources.h"
#include "parsers/collector/trace.h"
#include "parsers/nsys/sqlite.h"
#include "tests/unit/analysis/staging/found/hidden_ranges.h"
#include "tests/unit/unpacked.h"

namespace fs = std::filesystem;

namespace {

struct HiddenCapture {
  const char* file;
  std::size_t steps, prefills;  // that its ranges mark and that are found; 0: nothing is to be found
  // Begins that are more than one launch off: the first step of a compiled model, in which it is compiled, and a prefill before
  // which the workload prepares its cache.
  std::size_t steps_off = 0, prefills_off = 0;
  std::size_t plain_steps = 0;  // of a program that is not known to generate
};

const std::vector<HiddenCapture> kHiddenCaptures = {
    {"h200-llama/nsys.sqlite", 16, 2},
    {"h200-llama/nsys_pytorch_ops.sqlite.gz", 4, 2},
    {"h200-llava/nsys.sqlite.gz", 24, 3},
    {"h200-collector/llm-torch.nltrace.gz", 64, 2},
    {"h200-collector/llm-cuda-stalls.nltrace.gz", 96, 3},
    {"h200-collector/llm-cuda-graph.nltrace.gz", 96, 3},
    {"h200-collector/llm-cuda-whole-graph.nltrace.gz", 48, 3},
    {"h200-unmarked/cuda-streams.nltrace.gz", 120, 5},
    {"h200-unmarked/gen-qwen3-b1.nltrace.gz", 64, 4},
    {"h200-unmarked/gen-gpt2-sample.nltrace.gz", 48, 3},
    {"h200-unmarked/gen-static.nltrace.gz", 64, 4, 1, 0},
    {"h200-unmarked/hf-compile.nltrace.gz", 64, 4, 1, 1},
    {"h200-unmarked/hf-graph.nltrace.gz", 64, 4, 0, 1},
    {"h200-unmarked/loop-async.nltrace.gz", 98, 4},
    {"h200-probe/probe_node.sqlite", 0, 0, 0, 0, 10},
    {"h200-probe/probe_graph.sqlite", 0, 0, 0, 0, 10},
    {"h200-collector/launch-loop-samples.nltrace.gz", 0, 0},
    {"h200-unmarked/train.nltrace.gz", 0, 0, 0, 0, 11},
    {"h200-unmarked/noise.nltrace.gz", 0, 0},
    {"h200-unmarked/offload.nltrace.gz", 0, 0, 0, 0, 40},
};

// Made when the inference was done: nothing in it was chosen by these.
const std::vector<HiddenCapture> kHeldOutCaptures = {
    {"h200-held-out/mixtral-b4.nltrace.gz", 80, 4},
    {"h200-held-out/deepseek-b2.nltrace.gz", 96, 4},
    {"h200-held-out/qwen2-b16.nltrace.gz", 90, 3},
    {"h200-held-out/qwen2-graph-b8.nltrace.gz", 160, 4, 0, 1},
    {"h200-held-out/qwen2-compile-b3.nltrace.gz", 96, 4, 1, 1},
    {"h200-held-out/llava.nltrace.gz", 80, 4},
};

// Scripts that mark nothing, marked by nvtx/python/auto.
const std::vector<HiddenCapture> kAutoMarkedCaptures = {
    {"h200-auto-marked/qwen3.nltrace.gz", 155, 5},          {"h200-auto-marked/loop.nltrace.gz", 235, 5},
    {"h200-auto-marked/compiled.nltrace.gz", 282, 6, 1, 0}, {"h200-auto-marked/mixtral.nltrace.gz", 155, 5},
    {"h200-auto-marked/llava.nltrace.gz", 155, 5},
};

nl::Trace read_hidden(const fs::path& file) {
  const auto read = [](const fs::path& from, const std::string& name) {
    return name.find(".sqlite") != std::string::npos ? nl::parsers::read_nsys_sqlite(from) : nl::parsers::read_collector_traces({from});
  };
  if (file.extension() != ".gz") return read(file, file.filename());
  const Unpacked unpacked(file);
  return read(unpacked.file, file.filename());
}

// Steps whose begins are within one launch, in per cent; the table of all captures goes to standard output.
double score_hidden(const std::vector<HiddenCapture>& captures) {
  std::string table = nl::test::score_header();
  std::size_t steps = 0, right = 0;
  for (const HiddenCapture& capture : captures) {
    nl::Trace trace = read_hidden(fs::path(NL_FIXTURES) / capture.file);
    std::vector<nl::Range> truth;
    truth.swap(trace.ranges);
    const auto found = nl::analysis::infer_stages(trace);
    const nl::test::StageScore score = nl::test::StageComparison(trace).compare(truth, found);
    table += nl::test::score_row(capture.file, score);
    INFO(capture.file);
    if (capture.steps == 0) {  // generates nothing that could be told: whatever repeats is a step
      for (const auto& stage : found.stages) CHECK((stage.name == "step" || stage.name == "train_step"));
      CHECK(found.stages.size() == capture.plain_steps);
      CHECK_FALSE(found.notes.empty());
      continue;
    }
    CHECK(score.found == capture.steps);
    CHECK(score.prefills_found == capture.prefills);
    CHECK(score.kinds == score.boundaries);
    CHECK(score.prefill_kinds == score.prefill_boundaries);
    CHECK(score.steps == capture.steps);
    CHECK(score.boundaries >= capture.steps - capture.steps_off);
    CHECK(score.prefill_boundaries >= capture.prefills - capture.prefills_off);
    steps += score.steps;
    right += score.boundaries;
  }
  std::puts(table.c_str());
  return 100.0 * static_cast<double>(right) / static_cast<double>(steps);
}

}  // namespace

TEST_CASE("what is inferred from real captures is what their ranges mark") { CHECK(score_hidden(kHiddenCaptures) >= 99); }

TEST_CASE("what is inferred from captures that it was not made with is what their ranges mark") {
  CHECK(score_hidden(kHeldOutCaptures) >= 99);
}

TEST_CASE("what is inferred from scripts that mark nothing is what nl-stage marked in them") {
  CHECK(score_hidden(kAutoMarkedCaptures) >= 99);
}
