#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/time.h"
#include "model/words.h"

// Requests that a load generator sent to a server, and when their answers came: of nl-stage load, or of another generator's file.
namespace nl {

enum class LoadTool : std::uint8_t { kNlStage, kVllm, kAiperf, kGuideLlm, kInferencePerf, kSglang };

// What the times of a run count from.
enum class LoadClock : std::uint8_t {
  kMonotonic,  // CLOCK_MONOTONIC of the machine
  kEpoch,
  kNone,  // each request from its own start: when it started is not known
};

enum class LoadEndpoint : std::uint8_t { kCompletions, kChat };

enum class ArrivalKind : std::uint8_t {
  kUnknown,
  kPoisson,
  kGamma,
  kConstant,
  kReplay,
  kClosed,  // so many users, each of whom waits for an answer before the next request
};

enum class ChunkKind : std::uint8_t {
  kEmpty,  // a choice without content: the role that a chat begins with, the reason that an answer ends with
  kText,
  kReasoning,
  kToolCall,
};

// One event of an answer that has a choice. It may hold several tokens.
struct LoadChunk {
  Ns at_ns = 0;
  ChunkKind kind = ChunkKind::kText;
};

enum class RequestOutcome : std::uint8_t {
  kAnswered,
  kNotSent,     // too many requests were open
  kNotReached,  // no connection
  kStatus,      // another status than 200
  kTimedOut,
  kCutOff,       // the connection ended before the answer did
  kStreamError,  // the server said an error within the answer
  kGarbled,      // the answer cannot be read
  kTooLarge,
  kEmpty,        // it ended without content
  kInterrupted,  // the load ended first
  kOther,        // another generator's words for it
};

struct LoadRequest {
  std::string id;       // what X-Request-Id carried
  bool warmup = false;  // not counted
  std::optional<Ns> scheduled_ns, sent_ns, connected_ns, first_byte_ns, end_ns;
  std::vector<LoadChunk> chunks;
  bool every_chunk = true;        // false: the first and the last are known, and how many there were
  std::uint64_t chunk_count = 0;  // of those with content
  std::vector<Ns> token_ns = {};  // where the generator split chunks into tokens
  RequestOutcome outcome = RequestOutcome::kAnswered;
  int http_status = 0;
  std::string error = {};
  std::optional<std::uint64_t> asked_prompt_tokens, asked_output_tokens;
  std::optional<std::uint64_t> prompt_tokens, output_tokens;  // as the server counts them
};

struct LoadArrivals {
  ArrivalKind kind = ArrivalKind::kUnknown;
  std::optional<double> rate_per_s, burstiness;
  std::optional<std::uint64_t> concurrency, seed;
};

struct LoadFacts {
  std::string name;  // of the file, or of the server
  LoadTool tool = LoadTool::kNlStage;
  LoadClock clock = LoadClock::kMonotonic;
  std::string created_at = {}, target = {}, model = {};
  std::optional<LoadEndpoint> endpoint;
  LoadArrivals arrivals;
  std::optional<Ns> duration_ns;      // from before the first request until all have ended, as the generator says
  std::optional<Ns> epoch_offset_ns;  // added to a time it gives the time since 1970
  bool interrupted = false;
  std::uint64_t damaged = 0;  // rows of a file that cannot be read
};

struct LoadRun : LoadFacts {
  std::vector<LoadRequest> requests;
};

// What a request has to keep to count as good.
struct LoadLimits {
  std::optional<Ns> ttft_ns, tpot_ns, itl_ns, e2e_ns;
  bool any() const { return ttft_ns || tpot_ns || itl_ns || e2e_ns; }
};

template <>
inline constexpr auto kKeys<LoadTool> =
    std::to_array<std::string_view>({"nl-stage", "vllm", "aiperf", "guidellm", "inference-perf", "sglang"});
template <>
inline constexpr auto kKeys<LoadClock> = std::to_array<std::string_view>({"monotonic", "epoch", "none"});
template <>
inline constexpr auto kKeys<LoadEndpoint> = std::to_array<std::string_view>({"completions", "chat"});
template <>
inline constexpr auto kKeys<ArrivalKind> = std::to_array<std::string_view>({"unknown", "poisson", "gamma", "constant", "replay", "closed"});
template <>
inline constexpr auto kKeys<RequestOutcome> =
    std::to_array<std::string_view>({"answered", "not_sent", "not_reached", "status", "timed_out", "cut_off", "stream_error", "garbled",
                                     "too_large", "empty", "interrupted", "other"});

}  // namespace nl
