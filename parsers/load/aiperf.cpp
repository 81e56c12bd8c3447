#include "model/error_code.h"
#include "parsers/load/fields.h"
#include "parsers/load/results.h"

// aiperf's profile_export.jsonl: a record a line, with times since 1970 and figures in their own units. It has no time of each chunk, but the gaps
// between them.
// Fields: aiperf/common/models/record_models.py (MetricRecordInfo), docs/tutorials/working-with-profile-exports.md
namespace nl::parsers {
namespace results::aiperf {
namespace {

bool is_own(const Json& first) { return member(member(first, "metadata"), "request_start_ns").is_number() && first.contains("metrics"); }

double unit_ns(const Json& metric) {
  const std::string unit = text_of(member(metric, "unit"));
  return unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "sec" || unit == "s" ? kSecond_ns : kMs_ns;
}

// "time_to_first_token": {"value": 4.898437, "unit": "ms"}
std::optional<Ns> time_in(const Json& metrics, const char* key) {
  const Json& metric = member(metrics, key);
  return ns_of(member(metric, "value"), unit_ns(metric));
}

// The first after its TTFT, the others by their gaps; without gaps the last is the end of the request's latency.
void read_chunks(const Json& metrics, LoadRequest& request) {
  const auto first = time_in(metrics, "time_to_first_token"), whole = time_in(metrics, "request_latency");
  const Json& gaps = member(metrics, "inter_chunk_latency");
  if (!first) {  // not streamed
    if (whole) request.chunks.push_back({*request.sent_ns + *whole, ChunkKind::kText});
  } else {
    double at_ns = static_cast<double>(*first);
    request.chunks.push_back({*request.sent_ns + *first, ChunkKind::kText});
    for (const Json& gap : member(gaps, "value")) {
      at_ns += std::max(0.0, number_of(gap).value_or(0) * unit_ns(gaps));
      request.chunks.push_back({*request.sent_ns + std::llround(std::min(at_ns, kLongest_ns)), ChunkKind::kText});
    }
    if (request.chunks.size() == 1 && whole && *whole > *first) {
      request.chunks.push_back({*request.sent_ns + *whole, ChunkKind::kText});
      request.every_chunk = false;
    }
  }
  request.chunk_count = request.chunks.size();
}

// "error": {"code": 499, "type": "RequestCancellationError", "message": "Request was cancelled after 0.000 seconds"}
void read_error(const Json& row, LoadRequest& request) {
  const Json& error = member(row, "error");
  if (error.is_null() && !request.chunks.empty()) return;
  const int code = static_cast<int>(count_of(member(error, "code")).value_or(0));
  const Json& cancelled = member(member(row, "metadata"), "was_cancelled");
  request.outcome = cancelled.is_boolean() && cancelled.get<bool>() ? RequestOutcome::kInterrupted
                    : code >= 400 && code < 600                     ? RequestOutcome::kStatus
                                                                    : RequestOutcome::kOther;
  if (code >= 100 && code < 600) request.http_status = code;
  request.error = error.is_null() ? "no chunk came" : last_line(text_of(member(error, "message")));
}

LoadRequest request_of(const Json& row) {
  LoadRequest request;
  const Json &metadata = member(row, "metadata"), &metrics = member(row, "metrics");
  const auto count = [&](const char* key) { return count_of(member(member(metrics, key), "value")); };
  request.id = text_of(member(metadata, "x_request_id"));
  request.warmup = text_of(member(metadata, "benchmark_phase")) == "warmup";
  request.scheduled_ns = ns_of(member(metadata, "credit_issued_ns"), 1);
  request.sent_ns = ns_of(member(metadata, "request_start_ns"), 1);
  request.first_byte_ns = ns_of(member(metadata, "request_ack_ns"), 1);
  request.end_ns = ns_of(member(metadata, "request_end_ns"), 1);
  request.prompt_tokens = count("input_sequence_length");
  request.output_tokens = count("output_sequence_length");
  read_chunks(metrics, request);
  read_error(row, request);
  return request;
}

std::vector<LoadRun> read(const LoadDocuments& from) {
  LoadRun run;
  run.name = from.where;
  run.tool = LoadTool::kAiperf;
  run.clock = LoadClock::kEpoch;
  run.epoch_offset_ns = 0;
  run.damaged = from.damaged;
  for (const Json& row : from.documents) {
    if (is_own(row) && ns_of(member(member(row, "metadata"), "request_start_ns"), 1)) run.requests.push_back(request_of(row));
    else ++run.damaged;
  }
  return {run};
}

}  // namespace
}  // namespace results::aiperf

extern const LoadFormat kAiperfRecords = {LoadTool::kAiperf, results::aiperf::is_own, results::aiperf::read};

}  // namespace nl::parsers
