#include "model/error_code.h"
#include "parsers/load/fields.h"
#include "parsers/load/results.h"

// inference-perf's per_request_lifecycle_metrics.json: a list of requests. Times are seconds of perf_counter(), which is CLOCK_MONOTONIC. It does not say
// when requests were due.
// Fields: inference_perf/reportgen/base.py ("per_request"), inference_perf/apis/base.py
namespace nl::parsers {
namespace results::inference_perf {
namespace {

bool is_own(const Json& first) {
  const Json& row = first.is_array() ? element(first, 0) : first;
  return (member(row, "start_time").is_number() && row.contains("end_time") && row.contains("info")) || row.contains("load_summary");
}

std::vector<Ns> times_in(const Json& list) {
  std::vector<Ns> times;
  if (list.is_array())
    for (const Json& each : list)
      if (const auto at = ns_of(each, kSecond_ns)) times.push_back(*at);
  return times;
}

// "response_metrics": {"output_tokens": 3, "server_usage": {"completion_tokens": 3}, "chunk_times": [8931.28], "output_token_times": [8931.28]};
// before 2026 the members of both stood in "info"
void read_answer(const Json& info, LoadRequest& request) {
  const Json& metrics = member(info, "response_metrics").is_object() ? member(info, "response_metrics") : info;
  const auto counted = count_of(member(member(metrics, "server_usage"), "completion_tokens"));
  request.output_tokens = counted ? counted : count_of(member(metrics, "output_tokens"));
  const Json& text = member(member(info, "request_metrics"), "text");
  request.prompt_tokens = count_of(text.is_object() ? member(text, "input_tokens") : member(info, "input_tokens"));
  const std::vector<Ns> tokens = times_in(member(metrics, "output_token_times")), chunks = times_in(member(metrics, "chunk_times"));
  for (const Ns at : chunks.empty() ? tokens : chunks) request.chunks.push_back({at, ChunkKind::kText});
  if (tokens.size() != chunks.size() && !chunks.empty()) request.token_ns = tokens;
  if (request.chunks.empty() && request.end_ns) request.chunks.push_back({*request.end_ns, ChunkKind::kText});  // not streamed
  request.chunk_count = request.chunks.size();
}

LoadRequest request_of(const Json& row) {
  LoadRequest request;
  request.sent_ns = ns_of(member(row, "start_time"), kSecond_ns);
  request.end_ns = ns_of(member(row, "end_time"), kSecond_ns);
  request.scheduled_ns = ns_of(member(row, "scheduled_time"), kSecond_ns);
  if (const Json& error = member(row, "error"); !error.is_null()) {
    request.outcome = RequestOutcome::kOther;
    request.error = last_line(text_of(member(error, "error_type")) + ": " + text_of(member(error, "error_msg")));
  } else {
    read_answer(member(row, "info"), request);
  }
  return request;
}

std::vector<LoadRun> read(const LoadDocuments& from) {
  LoadRun run;
  run.name = from.where;
  run.tool = LoadTool::kInferencePerf;
  const Json& rows = from.documents.front();
  if (!rows.is_array())
    throw CodedError(
        ErrorCode::kUnknownFormat, "the file has sums alone, and none of its requests", from.where,
        "set report.request_lifecycle.per_request in inference-perf's configuration, and give per_request_lifecycle_metrics.json");
  for (const Json& row : rows) {
    if (member(row, "start_time").is_number()) run.requests.push_back(request_of(row));
    else ++run.damaged;
  }
  return {run};
}

}  // namespace
}  // namespace results::inference_perf

extern const LoadFormat kInferencePerfRequests = {LoadTool::kInferencePerf, results::inference_perf::is_own, results::inference_perf::read};

}  // namespace nl::parsers
