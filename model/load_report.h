#pragma once

#include <array>
#include <map>

#include "model/load.h"

// What the requests of a load say: the figures of nl-stage, and those of other generators by their own definitions.
namespace nl {

enum class LoadFigure : std::uint8_t { kTtft, kTpot, kItl, kE2e, kNormalised };
inline constexpr std::size_t kLoadFigures = 5;

// Those whose definitions are computed: the tools up to inference-perf. SGLang has those of vLLM.
inline constexpr std::size_t kDefiningTools = 5;

struct LoadBounds {
  double low = 0, high = 0;
};

struct LoadSpread {
  std::uint64_t count = 0;
  double mean_ns = 0, median_ns = 0, min_ns = 0, max_ns = 0;
  std::optional<double> p90_ns, p95_ns, p99_ns;  // nothing: too few values
  std::optional<LoadBounds> median_95, p99_95;   // nothing: too few values, or values that depend on each other
};

// One figure as one tool defines it.
struct ToolSpread {
  std::uint64_t count = 0;
  double mean_ns = 0, median_ns = 0, p99_ns = 0;
};

struct ToolRates {
  std::optional<double> requests_per_s, output_tokens_per_s, good_per_s;
};

struct DelaySpread {
  std::uint64_t count = 0;
  double median_ns = 0, p99_ns = 0, max_ns = 0;  // by nearest rank, of any number
};

struct LoadRates {
  std::optional<double> requested_per_s;  // as asked for
  std::optional<double> scheduled_per_s;  // as drawn
  std::optional<double> sent_per_s, answered_per_s, prompt_tokens_per_s, output_tokens_per_s;
};

struct LoadGoodput {
  std::uint64_t good = 0, sent = 0;
  std::optional<double> per_s;
  LoadBounds share_95;
};

enum class LoadRemark : std::uint8_t {
  kFailed,  // of so many: outcomes has the kinds
  kInterrupted,
  kDamagedRows,
  kGeneratorLate,  // p99 of the schedule delay, and what it may be
  kInFlightLimit,  // requests that were not sent
  kClosedLoop,     // its users
  kNoSchedule,     // the file does not say when requests were due
  kNoStarts,
  kChunksAsTokens,  // requests whose server counts no tokens
  kSeveralTokens,   // tokens a chunk
  kChunksNotKnown,
  kShortAnswers,  // requests that ended before the tokens that were asked for
  kFewForP99,
};

struct LoadNote {
  LoadRemark remark = LoadRemark::kFailed;
  std::vector<double> numbers = {};
};

struct LoadReport {
  LoadFacts run;
  LoadLimits limits;
  std::uint64_t requests = 0, answered = 0, warmups = 0;
  std::map<RequestOutcome, std::uint64_t> failed;
  std::string first_error;
  std::uint64_t prompt_tokens = 0, output_tokens = 0;
  std::map<LoadFigure, LoadSpread> figures;
  std::map<LoadFigure, std::array<std::optional<ToolSpread>, kDefiningTools>> by_tool;
  std::array<ToolRates, kDefiningTools> tool_rates;
  std::optional<DelaySpread> schedule_delay;
  LoadRates rates;
  std::optional<LoadGoodput> goodput;
  std::vector<LoadNote> notes;
};

template <>
inline constexpr auto kKeys<LoadFigure> = std::to_array<std::string_view>({"ttft", "tpot", "itl", "e2e", "normalised_tpot"});
template <>
inline constexpr auto kKeys<LoadRemark> = std::to_array<std::string_view>(
    {"failed", "interrupted", "damaged_rows", "generator_late", "in_flight_limit", "closed_loop", "no_schedule", "no_starts",
     "chunks_as_tokens", "several_tokens_a_chunk", "chunks_not_known", "short_answers", "few_for_p99"});

}  // namespace nl
