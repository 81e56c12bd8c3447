#include <algorithm>

#include "analysis/load/definitions.h"
#include "analysis/statistics/confidence.h"

namespace nl::analysis {
namespace {

constexpr double kNsPerSecond = 1e9;

// From the earliest to the latest of some times.
class SendingSpan {
 public:
  void add(const std::optional<Ns>& from, const std::optional<Ns>& to) {
    if (!from || !to) return;
    from_ = count_ == 0 ? *from : std::min(from_, *from);
    to_ = count_ == 0 ? *to : std::max(to_, *to);
    ++count_;
  }
  // So many within the span, a second.
  std::optional<double> rate(double count) const {
    return count_ > 0 && to_ > from_ ? std::optional(count * kNsPerSecond / static_cast<double>(to_ - from_)) : std::nullopt;
  }
  // Of moments: n of them have n − 1 gaps.
  std::optional<double> rate() const { return rate(static_cast<double>(count_) - 1); }

 private:
  Ns from_ = 0, to_ = 0;
  std::uint64_t count_ = 0;
};

// The last chunk that aiperf takes for an answer; when it was sent, where there is none.
std::optional<Ns> last_words(const LoadRequest& request) {
  const auto values = values_of(LoadTool::kAiperf, LoadFigure::kE2e, {&request});
  if (!request.sent_ns || values.empty()) return request.sent_ns;
  return *request.sent_ns + static_cast<Ns>(values.front().first);
}

// vLLM: from the start of the benchmark until all have ended. aiperf: from the first answered request to the last chunk with text
// or reasoning. nl-stage and
// inference-perf: from the first request to the end of the last, failed ones too. GuideLLM's rates are means over time, of another kind.
std::optional<double> a_second(LoadTool tool, double count, const LoadRun& run, const Answered& requests) {
  SendingSpan span;
  switch (tool) {
    case LoadTool::kVllm:
    case LoadTool::kSglang:
      return run.duration_ns && *run.duration_ns > 0 ? std::optional(count * kNsPerSecond / static_cast<double>(*run.duration_ns))
                                                     : std::nullopt;
    case LoadTool::kGuideLlm: return std::nullopt;
    case LoadTool::kAiperf:
      for (const LoadRequest* request : requests) span.add(request->sent_ns, last_words(*request));
      break;
    case LoadTool::kNlStage:
    case LoadTool::kInferencePerf:
      for (const LoadRequest& request : run.requests)
        if (!request.warmup) span.add(request.sent_ns, request.end_ns);
      break;
  }
  return run.clock == LoadClock::kNone ? std::nullopt : span.rate(count);
}

std::optional<std::uint64_t> good_by(LoadTool tool, const Answered& requests, const LoadLimits& limits) {
  std::uint64_t good = 0;
  for (const LoadRequest* request : requests) {
    const auto kept = is_good(tool, *request, limits);
    if (!kept) return std::nullopt;
    good += *kept ? 1 : 0;
  }
  return limits.any() ? std::optional(good) : std::nullopt;
}

}  // namespace

void add_rates(const LoadRun& run, const Answered& requests, LoadReport& report) {
  const auto answered = static_cast<double>(report.answered), tokens = static_cast<double>(report.output_tokens);
  for (std::size_t i = 0; i < kDefiningTools; ++i) {
    const auto tool = static_cast<LoadTool>(i);
    ToolRates& rates = report.tool_rates[i];
    rates.requests_per_s = a_second(tool, answered, run, requests);
    rates.output_tokens_per_s = a_second(tool, tokens, run, requests);
    if (const auto good = good_by(tool, requests, report.limits))
      rates.good_per_s = a_second(tool, static_cast<double>(*good), run, requests);
  }
  const ToolRates& ours = report.tool_rates[static_cast<std::size_t>(LoadTool::kNlStage)];
  report.rates.answered_per_s = ours.requests_per_s;
  report.rates.output_tokens_per_s = ours.output_tokens_per_s;
  report.rates.prompt_tokens_per_s = a_second(LoadTool::kNlStage, static_cast<double>(report.prompt_tokens), run, requests);
  report.rates.requested_per_s = run.arrivals.rate_per_s;
  SendingSpan scheduled, sent;
  for (const LoadRequest& request : run.requests) {
    if (request.warmup) continue;
    scheduled.add(request.scheduled_ns, request.scheduled_ns);
    sent.add(request.sent_ns, request.sent_ns);
  }
  if (run.arrivals.kind != ArrivalKind::kClosed) report.rates.scheduled_per_s = scheduled.rate();
  if (run.clock != LoadClock::kNone) report.rates.sent_per_s = sent.rate();
  if (const auto good = good_by(LoadTool::kNlStage, requests, report.limits)) {
    const Interval share = share_95(static_cast<double>(*good), static_cast<double>(report.requests));
    report.goodput = LoadGoodput{*good, report.requests, ours.good_per_s, {share.low, share.high}};
  }
}

}  // namespace nl::analysis
