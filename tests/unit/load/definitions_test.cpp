#include "analysis/load/definitions.h"

#include <fmt/format.h>

#include <cstdlib>

#include "analysis/load/report.h"
#include "exporters/load/load.h"
#include "exporters/load/records.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/load/random_load.h"

using namespace nl;
using test::kMs;

namespace {

// Sent at 1 s; a role at 10 ms, text at 30, 40 and 60 ms with two tokens in the last, the reason of its end at 61 ms, [DONE] at 65 ms.
LoadRequest by_hand() {
  LoadRequest request;
  request.sent_ns = 1000 * kMs;
  for (const auto& [at_ms, kind] : {std::pair(10, ChunkKind::kEmpty), std::pair(30, ChunkKind::kText), std::pair(40, ChunkKind::kReasoning),
                                    std::pair(60, ChunkKind::kText), std::pair(61, ChunkKind::kEmpty)})
    request.chunks.push_back({*request.sent_ns + at_ms * kMs, kind});
  request.chunk_count = 3;
  request.end_ns = 1065 * kMs;
  request.output_tokens = 4;
  return request;
}

std::vector<double> ms_of(LoadTool tool, LoadFigure figure, const LoadRequest& request) {
  std::vector<double> values;
  for (const auto& [value, weight] : analysis::values_of(tool, figure, {&request})) values.push_back(value / kMs);
  return values;
}

// 0 where every figure of the report is as the oracle has it.
int compared_with_oracle(const LoadRun& run, const LoadLimits& limits, const std::string& words) {
  const test::Folder folder;
  std::string records;
  exporters::write_load_records(run, [&](std::string_view piece) { records += piece; });
  const auto of = folder.file("records.json", records),
             report = folder.file("report.json", exporters::load_json({analysis::load_report(run, limits)}, ""));
  return std::system(fmt::format("python3 '{}/tests/unit/load/definitions_oracle.py' '{}' '{}' {} >&2", NL_SOURCE_ROOT, of.string(),
                                 report.string(), words)
                         .c_str());
}

}  // namespace

TEST_CASE("load definitions: one request by hand") {
  using enum LoadTool;
  const LoadRequest request = by_hand();
  using Values = std::vector<double>;
  CHECK(ms_of(kNlStage, LoadFigure::kTtft, request) == Values{30});
  CHECK(ms_of(kVllm, LoadFigure::kTtft, request) == Values{10});
  CHECK(ms_of(kAiperf, LoadFigure::kTtft, request) == Values{30});
  CHECK(ms_of(kGuideLlm, LoadFigure::kTtft, request) == Values{30});
  CHECK(ms_of(kInferencePerf, LoadFigure::kTtft, request) == Values{30});
  CHECK(ms_of(kNlStage, LoadFigure::kTpot, request) == Values{10});
  CHECK(ms_of(kVllm, LoadFigure::kTpot, request) == Values{17});
  CHECK(ms_of(kAiperf, LoadFigure::kTpot, request).empty());
  CHECK(ms_of(kGuideLlm, LoadFigure::kTpot, request) == Values{15});
  CHECK(ms_of(kInferencePerf, LoadFigure::kTpot, request) == Values{10});
  CHECK(ms_of(kNlStage, LoadFigure::kItl, request) == Values{10, 20});
  CHECK(ms_of(kVllm, LoadFigure::kItl, request) == Values{20, 10, 20, 1});
  CHECK(ms_of(kAiperf, LoadFigure::kItl, request) == Values{10});
  CHECK(ms_of(kGuideLlm, LoadFigure::kItl, request) == Values{10});
  CHECK(ms_of(kInferencePerf, LoadFigure::kItl, request) == Values{30});
  CHECK(ms_of(kNlStage, LoadFigure::kE2e, request) == Values{65});
  CHECK(ms_of(kVllm, LoadFigure::kE2e, request) == Values{61});
  CHECK(ms_of(kAiperf, LoadFigure::kE2e, request) == Values{60});
  CHECK(ms_of(kGuideLlm, LoadFigure::kE2e, request) == Values{65});
  CHECK(ms_of(kInferencePerf, LoadFigure::kE2e, request) == Values{65});
  CHECK(ms_of(kInferencePerf, LoadFigure::kNormalised, request) == Values{16.25});
  CHECK(ms_of(kVllm, LoadFigure::kNormalised, request).empty());
}

TEST_CASE("load definitions: GuideLLM's weights, numpy's places and nearest ranks") {
  using enum LoadTool;
  const std::vector<analysis::WeightedValue> values = {{40, 1}, {10, 7}, {20, 1}, {30, 1}};
  CHECK(analysis::spread_by(kGuideLlm, values)->median_ns == 10);
  CHECK(analysis::spread_by(kGuideLlm, values)->mean_ns == Approx(16));
  CHECK(analysis::spread_by(kVllm, values)->p99_ns == Approx(39.7));
  CHECK(analysis::spread_by(kNlStage, values)->p99_ns == 40);
  CHECK(analysis::spread_by(kNlStage, values)->median_ns == 25);
  CHECK_FALSE(analysis::spread_by(kVllm, {}).has_value());
}

TEST_CASE("load definitions: tokens that a tokenizer split chunks into are those of inference-perf alone") {
  LoadRequest request = by_hand();
  request.token_ns = {1030 * kMs, 1030 * kMs, 1060 * kMs};
  CHECK(ms_of(LoadTool::kInferencePerf, LoadFigure::kItl, request) == std::vector<double>{0, 30});
  CHECK(ms_of(LoadTool::kNlStage, LoadFigure::kItl, request) == std::vector<double>{10, 20});
  request.token_ns.clear();
  request.every_chunk = false;
  for (const LoadTool tool : {LoadTool::kNlStage, LoadTool::kVllm, LoadTool::kInferencePerf})
    CHECK(ms_of(tool, LoadFigure::kItl, request).empty());
  CHECK(ms_of(LoadTool::kNlStage, LoadFigure::kTpot, request) == std::vector<double>{10});
}

TEST_CASE("load definitions: random records, against a second implementation in another language") {
  const LoadLimits none, some{60 * kMs, {}, {}, 500 * kMs}, gaps{{}, {}, 12 * kMs, {}}, tokens{{}, 9 * kMs, {}, {}};
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const LoadRun run = test::random_load(seed, seed == 4 ? 7 : 60 + 97 * seed);
    INFO(seed);
    CHECK(compared_with_oracle(run, none, "") == 0);
    CHECK(compared_with_oracle(run, some, "ttft=60000000 e2e=500000000") == 0);
    CHECK(compared_with_oracle(run, gaps, "itl=12000000") == 0);
    CHECK(compared_with_oracle(run, tokens, "tpot=9000000") == 0);
  }
  LoadRun wrong = test::random_load(1, 50);
  const LoadReport report = analysis::load_report(wrong, none);
  wrong.requests.front().warmup = !wrong.requests.front().warmup;  // the oracle can fail
  const test::Folder folder;
  std::string records;
  exporters::write_load_records(wrong, [&](std::string_view piece) { records += piece; });
  const auto of = folder.file("records.json", records), file = folder.file("report.json", exporters::load_json({report}, ""));
  CHECK(std::system(fmt::format("python3 '{}/tests/unit/load/definitions_oracle.py' '{}' '{}' > '{}'", NL_SOURCE_ROOT, of.string(),
                                file.string(), (folder / "out").string())
                        .c_str()) != 0);
}
