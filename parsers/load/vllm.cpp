#include <fmt/format.h>

#include "model/error_code.h"
#include "parsers/load/fields.h"
#include "parsers/load/results.h"

// vllm bench serve --save-detailed, and SGLang's bench_serving --output-details, which began as a copy of it: lists with a place for each request.
// Times are seconds; those of starts are perf_counter(), which is CLOCK_MONOTONIC. SGLang has no starts.
// Fields: vllm/benchmarks/serve.py, python/sglang/bench_serving.py
namespace nl::parsers {
namespace results::vllm {
namespace {

bool has_latencies(const Json& first) { return first.is_object() && (first.contains("ttfts") || first.contains("mean_ttft_ms")); }
bool is_of_sglang(const Json& first) { return first.contains("total_output_tokens_retokenized") || first.contains("sharegpt_output_len"); }
bool is_vllm(const Json& first) { return has_latencies(first) && !is_of_sglang(first); }
bool is_sglang(const Json& first) { return has_latencies(first) && is_of_sglang(first); }

void read_outcome(const Json& root, std::size_t i, LoadRequest& request) {
  const std::string error = text_of(element(member(root, "errors"), i));
  if (error.empty() && !request.chunks.empty()) return;
  request.outcome = RequestOutcome::kOther;
  request.error = error.empty() ? "no chunk came" : last_line(error);
  request.chunks.clear();
  request.output_tokens.reset();
}

// "ttfts": [0.0301], "itls": [[0.0101, 0.0102]], "latencies": [0.0504], "start_times": [8931.25], "queue_times": [0.0]
LoadRequest request_at(const Json& root, std::size_t i, bool due_before_queue) {
  LoadRequest request;
  const auto start_ns = ns_of(element(member(root, "start_times"), i), kSecond_ns);
  request.sent_ns = start_ns.value_or(0);
  request.prompt_tokens = count_of(element(member(root, "input_lens"), i));
  request.output_tokens = count_of(element(member(root, "output_lens"), i));
  double at_s = number_of(element(member(root, "ttfts"), i)).value_or(0);
  const auto add_chunk = [&] {
    request.chunks.push_back({*request.sent_ns + std::llround(std::min(at_s * kSecond_ns, kLongest_ns)), ChunkKind::kText});
  };
  if (at_s > 0) add_chunk();
  if (const Json& gaps = element(member(root, "itls"), i); gaps.is_array() && at_s > 0)
    for (const Json& gap : gaps) at_s += std::max(0.0, number_of(gap).value_or(0)), add_chunk();
  request.chunk_count = request.chunks.size();
  const auto latency_ns = ns_of(element(member(root, "latencies"), i), kSecond_ns);
  if (latency_ns) request.end_ns = *request.sent_ns + *latency_ns;
  else if (!request.chunks.empty()) request.end_ns = request.chunks.back().at_ns;
  if (const auto queued_ns = ns_of(element(member(root, "queue_times"), i), kSecond_ns); queued_ns && due_before_queue && start_ns)
    request.scheduled_ns = *start_ns - *queued_ns;
  read_outcome(root, i, request);
  return request;
}

// "request_rate": 4.0 or "inf", "burstiness": 1.0, "max_concurrency": null
LoadArrivals arrivals_of(const Json& root) {
  LoadArrivals arrivals;
  arrivals.rate_per_s = number_of(member(root, "request_rate"));
  arrivals.concurrency = count_of(member(root, "max_concurrency"));
  const double burstiness = number_of(member(root, "burstiness")).value_or(1);
  if (arrivals.rate_per_s) {
    arrivals.kind = burstiness == 1 ? ArrivalKind::kPoisson : ArrivalKind::kGamma;
    if (burstiness != 1) arrivals.burstiness = burstiness;
  } else if (arrivals.concurrency) {
    arrivals.kind = ArrivalKind::kClosed;
  }
  return arrivals;
}

LoadRun run_of(const Json& root, LoadTool tool, const std::string& name) {
  LoadRun run;
  run.name = name;
  run.tool = tool;
  run.model = text_of(member(root, "model_id"));
  run.created_at = text_of(member(root, "date"));
  run.arrivals = arrivals_of(root);
  run.duration_ns = ns_of(member(root, "duration"), kSecond_ns);
  run.clock = member(root, "start_times").is_array() ? LoadClock::kMonotonic : LoadClock::kNone;
  const std::size_t count = member(root, "ttfts").size();
  for (std::size_t i = 0; i < count; ++i) run.requests.push_back(request_at(root, i, run.arrivals.rate_per_s.has_value()));
  return run;
}

std::vector<LoadRun> read_lists(const LoadDocuments& from, LoadTool tool, const char* flag) {
  std::vector<LoadRun> runs;
  for (const Json& root : from.documents) {
    if (!member(root, "ttfts").is_array()) continue;
    const std::string name = from.documents.size() == 1 ? from.where : fmt::format("{}, line {}", from.where, runs.size() + 1);
    runs.push_back(run_of(root, tool, name));
  }
  if (runs.empty())
    throw CodedError(ErrorCode::kUnknownFormat, "the file has sums alone, and none of its requests", from.where,
                     fmt::format("measure again with {}", flag));
  runs.front().damaged = from.damaged;
  return runs;
}

std::vector<LoadRun> read_vllm(const LoadDocuments& from) {
  return read_lists(from, LoadTool::kVllm, "vllm bench serve --save-result --save-detailed");
}
std::vector<LoadRun> read_sglang(const LoadDocuments& from) {
  return read_lists(from, LoadTool::kSglang, "python -m sglang.bench_serving --output-details");
}

}  // namespace
}  // namespace results::vllm

extern const LoadFormat kVllmResults = {LoadTool::kVllm, results::vllm::is_vllm, results::vllm::read_vllm};
extern const LoadFormat kSglangResults = {LoadTool::kSglang, results::vllm::is_sglang, results::vllm::read_sglang};

}  // namespace nl::parsers
