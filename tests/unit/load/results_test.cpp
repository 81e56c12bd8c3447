// Other generators' files in their own forms, by hand: each says itself what its tool makes of it.
#include "load/results.h"

#include <nlohmann/json.hpp>

#include "analysis/load/report.h"
#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/load/random_load.h"

using namespace nl;
using nlohmann::json;
using test::kMs;

namespace {

const std::string kFiles = NL_FIXTURES "/load/";

LoadRun only(const char* file) {
  std::vector<LoadRun> runs = load::read_results(kFiles + file);
  REQUIRE(runs.size() == 1);
  return runs.front();
}

const ToolSpread& figure(const LoadReport& report, LoadFigure which, LoadTool tool) {
  return *report.by_tool.at(which)[static_cast<std::size_t>(tool)];
}

std::string results_refusal(const std::string& text) {
  const test::Folder folder;
  try {
    load::read_results(folder.file("results", text));
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kInput);
    return error.message;
  }
  return "";
}

}  // namespace

TEST_CASE("load results: vLLM's own sums follow from its requests") {
  const json own = json::parse(test::read_text(kFiles + "vllm.json"));
  const LoadRun run = only("vllm.json");
  CHECK(run.tool == LoadTool::kVllm);
  CHECK(run.clock == LoadClock::kMonotonic);
  CHECK(run.model == "tiny");
  CHECK(run.arrivals.kind == ArrivalKind::kPoisson);
  CHECK(run.arrivals.rate_per_s == 4.0);
  REQUIRE(run.requests.size() == 3);
  CHECK(run.requests[0].sent_ns == 8'931'250'000'000);
  CHECK(run.requests[0].chunks.back().at_ns == 8'931'310'000'000);
  CHECK(run.requests[2].outcome == RequestOutcome::kOther);
  CHECK(run.requests[2].error == "aiohttp.client_exceptions.ClientPayloadError: Response payload is not completed");
  const LoadReport report = analysis::load_report(run, {});
  CHECK(report.answered == own["completed"]);
  for (const auto& [which, key] :
       {std::pair(LoadFigure::kTtft, "ttft"), std::pair(LoadFigure::kTpot, "tpot"), std::pair(LoadFigure::kItl, "itl")}) {
    const ToolSpread& ours = figure(report, which, LoadTool::kVllm);
    INFO(key);
    CHECK(ours.mean_ns / kMs == Approx(own["mean_" + std::string(key) + "_ms"].get<double>()));
    CHECK(ours.median_ns / kMs == Approx(own["median_" + std::string(key) + "_ms"].get<double>()));
    CHECK(ours.p99_ns / kMs == Approx(own["p99_" + std::string(key) + "_ms"].get<double>()));
  }
  const ToolRates& rates = report.tool_rates[static_cast<std::size_t>(LoadTool::kVllm)];
  CHECK(*rates.requests_per_s == Approx(own["request_throughput"].get<double>()));
  CHECK(*rates.output_tokens_per_s == Approx(own["output_throughput"].get<double>()));
}

TEST_CASE("load results: SGLang's lines are a load each, without starts, and Infinity is no rate") {
  const std::vector<LoadRun> runs = load::read_results(kFiles + "sglang.jsonl");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].tool == LoadTool::kSglang);
  CHECK(runs[0].clock == LoadClock::kNone);
  CHECK(runs[0].arrivals.kind == ArrivalKind::kClosed);
  CHECK(runs[0].arrivals.concurrency == 2u);
  CHECK(runs[1].arrivals.rate_per_s == 8.0);
  CHECK(test::has(runs[1].name, "line 2"));
  const LoadReport report = analysis::load_report(runs[0], {});
  CHECK(figure(report, LoadFigure::kTtft, LoadTool::kVllm).mean_ns == Approx(25 * kMs));
  CHECK(figure(report, LoadFigure::kItl, LoadTool::kVllm).mean_ns == Approx(12 * kMs));
  CHECK_FALSE(report.tool_rates[static_cast<std::size_t>(LoadTool::kNlStage)].requests_per_s.has_value());
  CHECK(*report.tool_rates[static_cast<std::size_t>(LoadTool::kVllm)].requests_per_s == Approx(4));
  CHECK(std::any_of(report.notes.begin(), report.notes.end(), [](const LoadNote& note) { return note.remark == LoadRemark::kNoStarts; }));
}

TEST_CASE("load results: aiperf's records, with their ids and gaps") {
  const LoadRun run = only("aiperf.jsonl");
  CHECK(run.tool == LoadTool::kAiperf);
  CHECK(run.clock == LoadClock::kEpoch);
  REQUIRE(run.requests.size() == 3);
  const LoadRequest& first = run.requests[0];
  CHECK(first.id == "7609a2e7-aa53-4ab1-98f4-f35ecafefd20");
  CHECK(first.sent_ns == 1'759'813'207'532'900'363);
  CHECK(first.chunks[2].at_ns - *first.sent_ns == 60'000'000);
  CHECK(*first.end_ns - *first.sent_ns == 61'000'000);
  CHECK(first.output_tokens == 4u);
  CHECK(run.requests[1].every_chunk);
  CHECK(run.requests[2].outcome == RequestOutcome::kInterrupted);
  CHECK(run.requests[2].error == "Request was cancelled after 0.000 seconds");
  const LoadReport report = analysis::load_report(run, {});
  CHECK(figure(report, LoadFigure::kItl, LoadTool::kAiperf).mean_ns == Approx(10 * kMs));  // its inter_token_latency
  CHECK(figure(report, LoadFigure::kE2e, LoadTool::kAiperf).mean_ns == Approx(55 * kMs));
  CHECK(figure(report, LoadFigure::kItl, LoadTool::kNlStage).mean_ns == Approx(15 * kMs));  // its inter_chunk_latency
}

TEST_CASE("load results: GuideLLM's report knows the first and the last chunk alone") {
  const LoadRun run = only("guidellm.json");
  CHECK(run.tool == LoadTool::kGuideLlm);
  CHECK(run.model == "tiny");
  CHECK(run.arrivals.kind == ArrivalKind::kPoisson);
  REQUIRE(run.requests.size() == 3);
  CHECK_FALSE(run.requests[0].every_chunk);
  CHECK(run.requests[0].chunk_count == 7);
  CHECK(run.requests[1].every_chunk);
  CHECK(run.requests[2].error == "httpx.ReadTimeout");
  const LoadReport report = analysis::load_report(run, {});
  // A double of seconds since 1970 is 0.24 µs wide.
  CHECK(figure(report, LoadFigure::kTtft, LoadTool::kGuideLlm).mean_ns == Approx(40 * kMs).margin(1000));
  CHECK(figure(report, LoadFigure::kItl, LoadTool::kGuideLlm).mean_ns == Approx(10 * kMs).margin(1000));
  CHECK(figure(report, LoadFigure::kTpot, LoadTool::kGuideLlm).mean_ns == Approx((90 + 50) / 8.0 * kMs).margin(1000));
  CHECK_FALSE(report.by_tool.at(LoadFigure::kItl)[static_cast<std::size_t>(LoadTool::kVllm)].has_value());
  REQUIRE(report.schedule_delay.has_value());
  CHECK(report.schedule_delay->max_ns == Approx(1 * kMs).margin(1000));
}

TEST_CASE("load results: inference-perf's requests, whose tokens share the time of their chunk") {
  const LoadRun run = only("inference_perf.json");
  CHECK(run.tool == LoadTool::kInferencePerf);
  REQUIRE(run.requests.size() == 3);
  CHECK(run.requests[0].token_ns.size() == 4);
  CHECK(run.requests[2].error == "ClientPayloadError: Response payload is not completed");
  const LoadReport report = analysis::load_report(run, {});
  CHECK(figure(report, LoadFigure::kTtft, LoadTool::kInferencePerf).count == 1);  // one chunk is not streamed
  CHECK(figure(report, LoadFigure::kTtft, LoadTool::kNlStage).count == 2);
  CHECK(figure(report, LoadFigure::kItl, LoadTool::kInferencePerf).mean_ns == Approx(10 * kMs));
  CHECK(figure(report, LoadFigure::kItl, LoadTool::kVllm).mean_ns == Approx(15 * kMs));
  CHECK(figure(report, LoadFigure::kNormalised, LoadTool::kInferencePerf).mean_ns == Approx((62.0 / 4 + 53) / 2 * kMs));
  CHECK_FALSE(report.schedule_delay.has_value());
}

TEST_CASE("load results: files without requests say how to get them, damaged rows are counted, others are refused") {
  CHECK(results_refusal(R"({"mean_ttft_ms": 3, "model_id": "tiny"})") == "the file has sums alone, and none of its requests");
  CHECK(results_refusal(R"({"mean_ttft_ms": 3, "sharegpt_output_len": null})") == "the file has sums alone, and none of its requests");
  CHECK(results_refusal(R"({"load_summary": {}, "successes": {}})") == "the file has sums alone, and none of its requests");
  CHECK(results_refusal(R"({"metadata": {}, "benchmarks": []})") == "the report has none of its requests");
  for (const char* other : {"", "x", "[]", "{}", "[1]", "null", "{\"ttfts\"", "\xff\xfe"})
    CHECK(results_refusal(other) == "the file is not what a load generator writes");
  CHECK(test::has(results_refusal(std::string(200, '[')), "nested"));
  const test::Folder folder;
  const std::string rows = test::read_text(kFiles + "aiperf.jsonl");
  const std::vector<LoadRun> runs = load::read_results(folder.file("cut.jsonl", rows + "{\"metadata\": {\"request_sta\n{\"other\": 1}\n"));
  CHECK(runs.front().requests.size() == 3);
  CHECK(runs.front().damaged == 2);
}

TEST_CASE("load results: members of another kind count as missing") {
  for (const char* file : {"vllm.json", "guidellm.json", "inference_perf.json"}) {
    const json whole = json::parse(test::read_text(kFiles + file));
    const json flat = whole.flatten();
    const test::Folder folder;
    for (const auto& [pointer, value] : flat.items())
      for (const json& odd : {json(nullptr), json("odd"), json(-1), json(1e300), json::array(), json::object()}) {
        json changed = whole;
        changed[json::json_pointer(pointer)] = odd;
        INFO(file << pointer);
        try {
          for (const LoadRun& run : load::read_results(folder.file("changed", changed.dump()))) analysis::load_report(run, {});
        } catch (const Error& error) {
          CHECK(error.kind == ErrorKind::kInput);
        }
      }
  }
}
