#include "exporters/load/records.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "exporters/load/json_parts.h"

namespace nl::exporters {
namespace {

using nlohmann::ordered_json;
using namespace loads;

std::string record_text(const ordered_json& json) { return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace); }

// Since the request was sent: shorter than those of the clock.
ordered_json chunk_times(const LoadRequest& request) {
  ordered_json times = ordered_json::array();
  for (const LoadChunk& chunk : request.chunks) times.push_back(std::max<Ns>(0, chunk.at_ns - request.sent_ns.value_or(0)));
  return times;
}

ordered_json token_times(const LoadRequest& request) {
  if (request.token_ns.empty()) return {};
  ordered_json times = ordered_json::array();
  for (const Ns at_ns : request.token_ns) times.push_back(std::max<Ns>(0, at_ns - request.sent_ns.value_or(0)));
  return times;
}

ordered_json request_json(const LoadRequest& request) {
  std::string kinds;
  for (const LoadChunk& chunk : request.chunks) kinds += kChunkLetters[static_cast<std::size_t>(chunk.kind)];
  return {{"id", or_null(request.id)},
          {"warmup", request.warmup},
          {"scheduled_ns", or_null(request.scheduled_ns)},
          {"sent_ns", or_null(request.sent_ns)},
          {"connected_ns", or_null(request.connected_ns)},
          {"first_byte_ns", or_null(request.first_byte_ns)},
          {"end_ns", or_null(request.end_ns)},
          {"outcome", key_of(request.outcome)},
          {"http_status", request.http_status > 0 ? ordered_json(request.http_status) : ordered_json()},
          {"error", or_null(request.error)},
          {"asked_prompt_tokens", or_null(request.asked_prompt_tokens)},
          {"asked_output_tokens", or_null(request.asked_output_tokens)},
          {"prompt_tokens", or_null(request.prompt_tokens)},
          {"output_tokens", or_null(request.output_tokens)},
          {"every_chunk", request.every_chunk},
          {"chunk_count", request.chunk_count},
          {"chunk_kinds", kinds},
          {"chunk_ns", chunk_times(request)},
          {"token_ns", token_times(request)}};
}

ordered_json record_head_json(const LoadRun& run) {
  ordered_json json = {
      {"format", kRecordsFormat}, {"format_version", kLoadRecordsVersion}, {"epoch_offset_ns", or_null(run.epoch_offset_ns)}};
  json.update(facts_json(run));
  json["damaged_rows"] = run.damaged;
  return json;
}

}  // namespace

void write_load_records(const LoadRun& run, const std::function<void(std::string_view)>& append) {
  std::string head = record_text(record_head_json(run));
  head.back() = ',';  // in the place of the bracket that would end it
  append(head + "\n\"requests\": [");
  for (std::size_t i = 0; i < run.requests.size(); ++i) append((i == 0 ? "\n" : ",\n") + record_text(request_json(run.requests[i])));
  append("\n]}\n");
}

}  // namespace nl::exporters
