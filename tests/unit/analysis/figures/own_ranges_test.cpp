// Ranges that say where a program is: stages within stages, and stages that nl-stage found. They are no work of the program.
#include <string>
#include <vector>

#include "analysis/figures/kernels/kernel_list.h"
#include "analysis/figures/operators/operators.h"
#include "analysis/nsys_stats/reports.h"
#include "analysis/staging/found/found.h"
#include "analysis/staging/staged_trace.h"
#include "parsers/collector/trace.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/unpacked.h"

namespace {

using namespace nl;
using namespace nl::analysis;

Trace fixture_trace(const std::string& file) {
  const std::filesystem::path there = NL_FIXTURES "/" + file;
  const auto read = [&](const std::filesystem::path& from) {
    return file.find(".sqlite") != std::string::npos ? parsers::read_nsys_sqlite(from) : parsers::read_collector_traces({from});
  };
  if (there.extension() != ".gz") return read(there);
  const Unpacked unpacked(there);
  return read(unpacked.file);
}

// Every cell of every report.
std::string reports_text(const Trace& trace) {
  std::string text;
  for (const std::string_view report : stats_report_names()) {
    text += std::string(report) + "\n";
    for (const auto& row : make_stats_report(trace, report).rows) {
      for (const StatTable::Cell& cell : row) {
        if (const auto* number = std::get_if<std::int64_t>(&cell)) text += std::to_string(*number);
        if (const auto* tenth = std::get_if<StatTable::Tenth>(&cell)) text += std::to_string(tenth->value);
        if (const auto* words = std::get_if<std::string>(&cell)) text += *words;
        text += '|';
      }
      text += '\n';
    }
  }
  return text;
}

std::vector<KernelEntry> kernels_of(const Trace& trace) {
  const StagedTrace staged(trace, WarmupRule{});
  const auto kernels = list_kernels(staged, KernelChoice{{"prefill", "decode"}, 10});
  REQUIRE(kernels);
  return *kernels;
}

Ns sum_of_splits(const std::vector<StageSplit>& splits, const std::string& stage = "") {
  Ns sum = 0;
  for (const StageSplit& split : splits) sum += stage.empty() || split.stage == stage ? split.total_ns : 0;
  return sum;
}

}  // namespace

TEST_CASE("kernels of auto-marked programs are split by the innermost stage, not by the request around all of them") {
  for (const char* file : {"qwen3", "loop", "mixtral", "llava", "compiled"}) {
    CAPTURE(file);
    Ns request = 0, prefill = 0, decode = 0, all = 0;
    for (const KernelEntry& kernel : kernels_of(fixture_trace("h200-auto-marked/" + std::string(file) + ".nltrace.gz"))) {
      CHECK(sum_of_splits(kernel.stages) == kernel.time.total_ns);
      CHECK(sum_of_splits(kernel.innermost) == kernel.time.total_ns);
      CHECK(sum_of_splits(kernel.innermost, "decode_step") == 0);  // a part of decode, as everywhere
      request += sum_of_splits(kernel.innermost, "request");
      prefill += sum_of_splits(kernel.innermost, "prefill");
      decode += sum_of_splits(kernel.innermost, "decode");
      all += kernel.time.total_ns;
    }
    CHECK(request < all / 4);
    CHECK(prefill > 0);
    CHECK(decode > 0);
  }
}

TEST_CASE("where no stage lies inside another, the innermost split is the outermost one") {
  for (const char* file : {"h200-llama/nsys.sqlite", "h200-collector/llm-torch.nltrace.gz"}) {
    CAPTURE(file);
    for (const KernelEntry& kernel : kernels_of(fixture_trace(file))) {
      REQUIRE(kernel.innermost.size() == kernel.stages.size());
      for (std::size_t i = 0; i < kernel.stages.size(); ++i) {
        CHECK(kernel.innermost[i].stage == kernel.stages[i].stage);
        CHECK(kernel.innermost[i].total_ns == kernel.stages[i].total_ns);
        CHECK(kernel.innermost[i].calls == kernel.stages[i].calls);
      }
    }
  }
}

TEST_CASE("stages that nl-stage found are no operators, and change no table of NVTX ranges") {
  std::size_t found = 0;
  for (const char* file : {"h200-unmarked/gen-qwen3-b1.nltrace.gz", "h200-unmarked/train.nltrace.gz", "h200-unmarked/offload.nltrace.gz",
                           "h200-unmarked/noise.nltrace.gz"}) {
    CAPTURE(file);
    Trace trace = fixture_trace(file);
    // Some of the workload's own ranges, which found stages enclose.
    for (Range& range : trace.ranges) range.domain = trace.strings.intern("app");
    const std::string before = reports_text(trace);
    add_found_stages(trace, {});
    found += has_found_stages(trace);
    CHECK((reports_text(trace) == before));
    OperatorFigures figures;
    add_operators(trace, {}, figures);
    for (const OperatorTable& table : figures.operators)
      for (const OperatorEntry& entry : table.entries) CHECK(entry.name.find("nl-stage") == std::string::npos);
  }
  CHECK(found >= 3);
}
