#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "model/load.h"

// What the writers and the reader of the JSON of loads share.
namespace nl::exporters::loads {

inline constexpr std::string_view kRecordsFormat = "nl-stage load";
inline constexpr std::string_view kChunkLetters = "etrc";  // in the order of ChunkKind: empty, text, reasoning, tool call

template <class Number>
nlohmann::ordered_json or_null(const std::optional<Number>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

inline nlohmann::ordered_json or_null(std::string_view text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

inline nlohmann::ordered_json endpoint_json(const LoadFacts& run) {
  return run.endpoint ? nlohmann::ordered_json(key_of(*run.endpoint)) : nlohmann::ordered_json();
}

inline nlohmann::ordered_json arrivals_json(const LoadArrivals& arrivals) {
  return {{"kind", key_of(arrivals.kind)},
          {"rate_per_s", or_null(arrivals.rate_per_s)},
          {"burstiness", or_null(arrivals.burstiness)},
          {"concurrency", or_null(arrivals.concurrency)},
          {"seed", or_null(arrivals.seed)}};
}

// What is known of a load without its requests.
inline nlohmann::ordered_json facts_json(const LoadFacts& run) {
  return {{"tool", key_of(run.tool)},
          {"clock", key_of(run.clock)},
          {"created_at", or_null(run.created_at)},
          {"target", or_null(run.target)},
          {"model", or_null(run.model)},
          {"endpoint", endpoint_json(run)},
          {"arrivals", arrivals_json(run.arrivals)},
          {"duration_ns", or_null(run.duration_ns)},
          {"interrupted", run.interrupted}};
}

}  // namespace nl::exporters::loads
