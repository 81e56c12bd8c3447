#include <fmt/format.h>

#include "model/error_code.h"
#include "parsers/load/fields.h"
#include "parsers/load/results.h"

// GuideLLM's report: several benchmarks, each with its requests by how they ended. Times are seconds since 1970, of the first and the last chunk alone.
// Fields: src/guidellm/schemas/{request_stats,info}.py, src/guidellm/benchmark/schemas/{report,benchmark}.py; names of 0.4 and 0.5 are read too
namespace nl::parsers {
namespace results::guidellm {
namespace {

bool is_own(const Json& first) { return member(first, "benchmarks").is_array() && (first.contains("metadata") || first.contains("args")); }

std::optional<Ns> time_in(const Json& timings, const char* key, const char* earlier = "") {
  const Json& value = member(timings, key);
  return ns_of(value.is_null() ? member(timings, earlier) : value, kSecond_ns);
}

// "timings": {"targeted_start": 1754.0, "request_start": 1754.001, "first_token_iteration": 1754.031, "last_token_iteration": 1754.091,
//             "token_iterations": 7, "request_end": 1754.092}
void read_times(const Json& timings, LoadRequest& request) {
  request.scheduled_ns = time_in(timings, "targeted_start");
  request.sent_ns = time_in(timings, "request_start");
  request.end_ns = time_in(timings, "request_end");
  const auto first = time_in(timings, "first_token_iteration", "first_iteration"),
             last = time_in(timings, "last_token_iteration", "last_iteration");
  const Json& iterations = member(timings, "token_iterations");
  request.chunk_count = count_of(iterations.is_null() ? member(timings, "iterations") : iterations).value_or(0);
  if (first) request.chunks.push_back({*first, ChunkKind::kText});
  if (first && last && *last > *first) request.chunks.push_back({*last, ChunkKind::kText});
  request.every_chunk = request.chunk_count == request.chunks.size();
}

std::optional<std::uint64_t> tokens_in(const Json& row, const char* metrics, const char* key) {
  const auto counted = count_of(member(member(row, metrics), "text_tokens"));
  return counted ? counted : count_of(member(row, key));
}

LoadRequest request_of(const Json& row, RequestOutcome outcome) {
  LoadRequest request;
  const Json& info = member(row, "info");
  request.id = text_of(member(row, "request_id"));
  request.outcome = outcome;
  read_times(member(info, "timings"), request);
  request.prompt_tokens = tokens_in(row, "input_metrics", "prompt_tokens");
  request.output_tokens = tokens_in(row, "output_metrics", "output_tokens");
  request.error = last_line(text_of(member(info, "error")));
  if (outcome == RequestOutcome::kAnswered && request.chunks.empty() && request.end_ns) {  // not streamed
    request.chunks.push_back({*request.end_ns, ChunkKind::kText});
    request.chunk_count = 1;
    request.every_chunk = true;
  }
  return request;
}

// "strategy": {"type_": "poisson", "rate": 4.0}, or {"type_": "concurrent", "streams": 8}
LoadArrivals arrivals_of(const Json& strategy) {
  LoadArrivals arrivals;
  const std::string kind = text_of(member(strategy, "type_"));
  arrivals.rate_per_s = number_of(member(strategy, "rate"));
  if (kind == "poisson") arrivals.kind = ArrivalKind::kPoisson;
  if (kind == "constant") arrivals.kind = ArrivalKind::kConstant;
  if (kind == "trace") arrivals.kind = ArrivalKind::kReplay;
  if (kind == "synchronous" || kind == "concurrent" || kind == "throughput") {
    arrivals.kind = ArrivalKind::kClosed;
    const Json& streams = member(strategy, "streams");
    arrivals.concurrency = kind == "synchronous" ? 1 : count_of(streams.is_null() ? member(strategy, "max_concurrency") : streams);
  }
  return arrivals;
}

LoadRun run_of(const Json& benchmark, const std::string& name) {
  LoadRun run;
  run.name = name;
  run.tool = LoadTool::kGuideLlm;
  run.clock = LoadClock::kEpoch;
  run.epoch_offset_ns = 0;
  const Json& config = member(benchmark, "config");
  run.arrivals = arrivals_of(member(config, "strategy"));
  run.model = text_of(member(member(config, "backend"), "model"));
  run.target = text_of(member(member(config, "backend"), "target"));
  run.duration_ns = ns_of(member(benchmark, "duration"), kSecond_ns);
  const Json& requests = member(benchmark, "requests");
  for (const auto& [key, outcome] : {std::pair("successful", RequestOutcome::kAnswered), std::pair("errored", RequestOutcome::kOther),
                                     std::pair("incomplete", RequestOutcome::kInterrupted)})
    for (const Json& row : member(requests, key)) run.requests.push_back(request_of(row, outcome));
  return run;
}

std::vector<LoadRun> read(const LoadDocuments& from) {
  std::vector<LoadRun> runs;
  const Json& benchmarks = member(from.documents.front(), "benchmarks");
  for (const Json& benchmark : benchmarks) {
    const std::string name = benchmarks.size() == 1 ? from.where : fmt::format("{}, benchmark {}", from.where, runs.size() + 1);
    if (member(benchmark, "requests").is_object()) runs.push_back(run_of(benchmark, name));
  }
  if (runs.empty())
    throw CodedError(ErrorCode::kUnknownFormat, "the report has none of its requests", from.where,
                     "give the JSON report that guidellm wrote whole");
  return runs;
}

}  // namespace
}  // namespace results::guidellm

extern const LoadFormat kGuideLlmReport = {LoadTool::kGuideLlm, results::guidellm::is_own, results::guidellm::read};

}  // namespace nl::parsers
