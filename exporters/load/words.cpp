#include "exporters/load/words.h"

#include <fmt/format.h>

#include "exporters/report/text/figure_text.h"
#include "model/visible_text.h"

namespace nl::exporters {
namespace {

template <class Enum>
std::size_t at(Enum value) {
  return static_cast<std::size_t>(value);
}

constexpr std::string_view kFigureTitles[kLoadFigures] = {"TTFT", "TPOT", "ITL", "E2E", "normalised TPOT"};
constexpr std::string_view kToolTitles[] = {"nl-stage", "vLLM", "aiperf", "GuideLLM", "inference-perf", "SGLang"};

// In the order of LoadFigure, then of LoadTool.
constexpr std::string_view kDefinitions[kLoadFigures][kDefiningTools] = {
    {"from sending the request to its first chunk with content: text, reasoning or a tool call",
     "to the first chunk that has a choice, with text or without", "to the first chunk with text or reasoning",
     "to the first chunk with content", "to the first chunk with text, of answers of two chunks and more"},
    {"from the first chunk with content to the last, ÷ (tokens − 1), a value for each request",
     "from the first chunk that has a choice to the last, ÷ (tokens − 1)", "",
     "from sending the request to the last chunk, ÷ tokens: TTFT is part of it; a request counts as often as it has tokens",
     "from the first chunk with text to the last, ÷ (tokens − 1)"},
    {"every gap between chunks with content, of all requests together",
     "every gap between chunks that have a choice, of all requests together",
     "from the first chunk to the last, ÷ (tokens − 1), a value for each request: what others call TPOT. Every gap is its inter-chunk "
     "latency",
     "from the first chunk to the last, ÷ (tokens − 1), a value for each request, which counts as often as it has gaps",
     "every gap between tokens, of all requests together; tokens of one chunk are 0 apart where its tokenizer splits them"},
    {"from sending the request to the end of the answer", "to the last chunk that has a choice", "to the last chunk with text or reasoning",
     "from sending the request to the end of the answer", "from sending the request to the end of the answer"},
    {"", "", "", "", "from sending the request to the end of the answer, ÷ tokens"},
};

constexpr std::string_view kPercentiles[kDefiningTools] = {
    "p90 and above by nearest rank, the median between the two middle values", "between the two values beside the place, as numpy does it",
    "between the two values beside the place, as numpy does it", "the first value at which the weights reach the share",
    "between the two values beside the place, as numpy does it"};

constexpr std::string_view kWindows[kDefiningTools] = {
    "from the first sending to the end of the last request, failed ones too", "from the start of the load until all requests have ended",
    "from the first sending to the last chunk with text or reasoning, of answered requests", "means over time, which are not computed here",
    "from the first sending to the end of the last request, failed ones too"};

constexpr std::string_view kGoodput[kDefiningTools] = {
    "all limits are kept, of all requests that were due; a single token has no gap that could break a limit; the ITL of a request is the "
    "mean of its gaps",
    "limits of TTFT, TPOT and E2E; a single token has a TPOT of 0",
    "any of its figures, TPOT is none of them; a figure that a request lacks breaks the limit", "it has none",
    "limits of TTFT, TPOT, ITL (the mean of a request) and E2E; a figure that a request lacks breaks the limit"};

constexpr std::string_view kOutcomes[] = {"answered",
                                          "not sent",
                                          "without a connection",
                                          "with another status than 200",
                                          "timed out",
                                          "cut off",
                                          "ended by an error of the server",
                                          "with an answer that cannot be read",
                                          "with an answer above 64 MiB",
                                          "with an answer without content",
                                          "interrupted",
                                          "for another reason"};

std::string per_second(double rate) { return three_digits(rate) + "/s"; }

}  // namespace

std::string_view title_of(LoadFigure figure) { return kFigureTitles[at(figure)]; }
std::string_view title_of(LoadTool tool) { return kToolTitles[at(tool)]; }

std::string_view definition_of(LoadFigure figure, LoadTool tool) {
  return kDefinitions[at(figure)][at(tool == LoadTool::kSglang ? LoadTool::kVllm : tool)];
}
std::string_view percentiles_of(LoadTool tool) { return kPercentiles[at(tool)]; }
std::string_view window_of(LoadTool tool) { return kWindows[at(tool)]; }
std::string_view goodput_of(LoadTool tool) { return kGoodput[at(tool)]; }

std::string arrivals_text(const LoadArrivals& arrivals) {
  const std::string rate = arrivals.rate_per_s ? " at " + per_second(*arrivals.rate_per_s) : "";
  switch (arrivals.kind) {
    case ArrivalKind::kUnknown: return "arrivals that the file does not name";
    case ArrivalKind::kPoisson: return "Poisson arrivals" + rate;
    case ArrivalKind::kGamma:
      return fmt::format("gamma arrivals{} with burstiness {}", rate, three_digits(arrivals.burstiness.value_or(1)));
    case ArrivalKind::kConstant: return "constant arrivals" + rate;
    case ArrivalKind::kReplay: return "arrivals of a file";
    case ArrivalKind::kClosed:
      return arrivals.concurrency ? "a closed loop of " + plural(*arrivals.concurrency, "user") : std::string("a closed loop");
  }
  return "";
}

std::string limits_text(const LoadLimits& limits) {
  std::vector<std::string> parts;
  const auto add = [&](LoadFigure figure, const std::optional<Ns>& limit) {
    if (limit) parts.push_back(fmt::format("{} up to {}", title_of(figure), short_time(static_cast<double>(*limit))));
  };
  add(LoadFigure::kTtft, limits.ttft_ns);
  add(LoadFigure::kTpot, limits.tpot_ns);
  add(LoadFigure::kItl, limits.itl_ns);
  add(LoadFigure::kE2e, limits.e2e_ns);
  return join_and(parts);
}

std::string failures_text(const LoadReport& report) {
  std::vector<std::string> parts;
  for (const auto& [outcome, count] : report.failed) parts.push_back(fmt::format("{} {}", count_text(count), kOutcomes[at(outcome)]));
  return join_and(parts);
}

std::string note_text(const LoadNote& note) {
  const double first = note.numbers.empty() ? 0 : note.numbers.front();
  const std::string requests = plural(static_cast<std::uint64_t>(first), "request");
  switch (note.remark) {
    case LoadRemark::kFailed: return fmt::format("{} failed. They are left out of all figures.", requests);
    case LoadRemark::kInterrupted: return "The load was interrupted. The figures are of the requests until then.";
    case LoadRemark::kDamagedRows: return fmt::format("{} of the file cannot be read.", plural(static_cast<std::uint64_t>(first), "row"));
    case LoadRemark::kGeneratorLate:
      return fmt::format(
          "The generator was late: the p99 of the schedule delay is {}, and should be below {}. The server saw other arrivals than "
          "those that were asked for. Lower the rate, or leave the generator a processor.",
          short_time(first), short_time(note.numbers.back()));
    case LoadRemark::kInFlightLimit:
      return fmt::format(
          "{} were not sent, because too many were open. The server does not keep up with this rate; --max-open allows more.", requests);
    case LoadRemark::kClosedLoop:
      return "A closed loop hides queues: a user who waits sends nothing, so that a slow server gets fewer requests. Real users do not "
             "wait for each "
             "other; --rate shows what they would see.";
    case LoadRemark::kNoSchedule: return "The file does not say when requests were due, so that the delay of its generator is not known.";
    case LoadRemark::kNoStarts:
      return "The file does not say when requests were sent, so that figures a second are those of vLLM's definition alone.";
    case LoadRemark::kChunksAsTokens:
      return fmt::format("The server counted no tokens for {}: their chunks are taken as tokens.", requests);
    case LoadRemark::kSeveralTokens:
      return fmt::format("A chunk has {} tokens in the mean: gaps between chunks are no times per token. TPOT counts tokens.",
                         three_digits(first));
    case LoadRemark::kChunksNotKnown: return fmt::format("Only the first and the last chunk of {} are known: they have no gaps.", requests);
    case LoadRemark::kShortAnswers: return fmt::format("{} ended before the tokens that were asked for.", requests);
    case LoadRemark::kFewForP99:
      return fmt::format("{} are not enough for a p99: it takes 100, and 368 for an upper end of its interval.", requests);
  }
  return "";
}

}  // namespace nl::exporters
