#include "analysis/load/report.h"

#include <algorithm>
#include <cmath>

#include "analysis/load/definitions.h"
#include "analysis/statistics/quantile.h"
#include "analysis/statistics/time_order.h"

namespace nl::analysis {
namespace {

constexpr LoadFigure kEveryFigure[kLoadFigures] = {LoadFigure::kTtft, LoadFigure::kTpot, LoadFigure::kItl, LoadFigure::kE2e,
                                                   LoadFigure::kNormalised};
constexpr double kMillisecond = 1e6;

std::optional<LoadBounds> bounds_of(const std::optional<Interval>& interval) {
  return interval ? std::optional(LoadBounds{interval->low, interval->high}) : std::nullopt;
}

// Values of requests in the order in which they were sent: those that share a queue depend on each other.
LoadSpread spread_of(const std::vector<WeightedValue>& in_order, bool with_intervals) {
  std::vector<double> values;
  for (const auto& [value, weight] : in_order) values.push_back(value);
  const double independent = with_intervals ? static_cast<double>(values.size()) / autocorrelation_time(values) : 0;
  std::sort(values.begin(), values.end());
  LoadSpread spread{values.size(), 0, linear_quantile(values, 0.5), values.front(), values.back(), {}, {}, {}, {}, {}};
  for (const double value : values) spread.mean_ns += value / static_cast<double>(values.size());
  if (values.size() >= kLeastForP95) spread.p90_ns = nearest_rank(values, 0.9), spread.p95_ns = nearest_rank(values, 0.95);
  if (values.size() >= kLeastForP99) spread.p99_ns = nearest_rank(values, 0.99);
  if (!with_intervals) return spread;
  spread.median_95 = bounds_of(quantile_interval(values, 0.5, independent));
  if (spread.p99_ns) spread.p99_95 = bounds_of(quantile_interval(values, 0.99, independent));
  return spread;
}

Answered answered_of(const LoadRun& run) {
  Answered requests;
  for (const LoadRequest& request : run.requests)
    if (!request.warmup && request.outcome == RequestOutcome::kAnswered) requests.push_back(&request);
  std::stable_sort(requests.begin(), requests.end(),
                   [](const LoadRequest* a, const LoadRequest* b) { return a->sent_ns.value_or(0) < b->sent_ns.value_or(0); });
  return requests;
}

void count_requests(const LoadRun& run, LoadReport& report) {
  for (const LoadRequest& request : run.requests) {
    if (request.warmup) {
      ++report.warmups;
      continue;
    }
    ++report.requests;
    if (request.outcome == RequestOutcome::kAnswered) {
      ++report.answered;
      report.prompt_tokens += request.prompt_tokens.value_or(0);
      report.output_tokens += tokens_of(request);
    } else {
      ++report.failed[request.outcome];
      if (report.first_error.empty()) report.first_error = request.error;
    }
  }
}

void add_figures(const Answered& requests, LoadReport& report) {
  for (const LoadFigure figure : kEveryFigure) {
    auto& row = report.by_tool[figure];
    for (std::size_t i = 0; i < kDefiningTools; ++i) {
      const auto tool = static_cast<LoadTool>(i);
      std::vector<WeightedValue> values = values_of(tool, figure, requests);
      if (tool == LoadTool::kNlStage && !values.empty())
        report.figures.emplace(figure, spread_of(values, figure != LoadFigure::kItl));  // gaps of one request depend on each other
      row[i] = spread_by(tool, std::move(values));
    }
  }
}

std::optional<DelaySpread> schedule_delay_of(const LoadRun& run) {
  std::vector<double> delays;
  for (const LoadRequest& request : run.requests)
    if (!request.warmup && request.scheduled_ns && request.sent_ns)
      delays.push_back(static_cast<double>(*request.sent_ns - *request.scheduled_ns));
  if (delays.empty()) return std::nullopt;
  std::sort(delays.begin(), delays.end());
  return DelaySpread{delays.size(), linear_quantile(delays, 0.5), nearest_rank(delays, 0.99), delays.back()};
}

void note_answers(const Answered& requests, LoadReport& report) {
  std::uint64_t uncounted = 0, unknown = 0, brief = 0, tokens = 0, chunks = 0;
  for (const LoadRequest* request : requests) {
    if (!request->output_tokens) ++uncounted;
    else tokens += *request->output_tokens, chunks += content_chunks_of(*request);
    if (!request->every_chunk) ++unknown;
    if (request->output_tokens && request->asked_output_tokens && *request->output_tokens < *request->asked_output_tokens) ++brief;
  }
  const auto note = [&](LoadRemark remark, double number) { report.notes.push_back({remark, {number}}); };
  if (uncounted > 0) note(LoadRemark::kChunksAsTokens, static_cast<double>(uncounted));
  if (unknown > 0) note(LoadRemark::kChunksNotKnown, static_cast<double>(unknown));
  const double a_chunk = chunks > 0 ? static_cast<double>(tokens) / static_cast<double>(chunks) : 0;
  if (a_chunk > 1.05) note(LoadRemark::kSeveralTokens, a_chunk);  // below, it is the token that ends an answer, which has no text
  if (brief > 0) note(LoadRemark::kShortAnswers, static_cast<double>(brief));
  if (!requests.empty() && requests.size() < kLeastForP99) note(LoadRemark::kFewForP99, static_cast<double>(requests.size()));
}

void note_generator(const LoadRun& run, LoadReport& report) {
  std::uint64_t failed = report.requests - report.answered;
  if (failed > 0) report.notes.push_back({LoadRemark::kFailed, {static_cast<double>(failed)}});
  if (run.interrupted) report.notes.push_back({LoadRemark::kInterrupted});
  if (run.damaged > 0) report.notes.push_back({LoadRemark::kDamagedRows, {static_cast<double>(run.damaged)}});
  const auto rate = report.rates.requested_per_s ? report.rates.requested_per_s : report.rates.scheduled_per_s;
  if (report.schedule_delay && report.schedule_delay->p99_ns > most_delay_ns(rate))
    report.notes.push_back({LoadRemark::kGeneratorLate, {report.schedule_delay->p99_ns, most_delay_ns(rate)}});
  if (const auto unsent = report.failed.find(RequestOutcome::kNotSent); unsent != report.failed.end())
    report.notes.push_back({LoadRemark::kInFlightLimit, {static_cast<double>(unsent->second)}});
  if (run.arrivals.kind == ArrivalKind::kClosed)
    report.notes.push_back({LoadRemark::kClosedLoop, {static_cast<double>(run.arrivals.concurrency.value_or(0))}});
  if (!report.schedule_delay) report.notes.push_back({LoadRemark::kNoSchedule});
  if (run.clock == LoadClock::kNone) report.notes.push_back({LoadRemark::kNoStarts});
}

}  // namespace

double most_delay_ns(std::optional<double> rate_per_s) {
  const double tenth_of_a_gap = rate_per_s && *rate_per_s > 0 ? 0.1 * 1e9 / *rate_per_s : 10 * kMillisecond;
  return std::clamp(tenth_of_a_gap, kMillisecond, 10 * kMillisecond);
}

LoadReport load_report(const LoadRun& run, const LoadLimits& limits) {
  LoadReport report;
  report.run = run;
  report.limits = limits;
  const Answered requests = answered_of(run);
  count_requests(run, report);
  add_figures(requests, report);
  report.schedule_delay = schedule_delay_of(run);
  add_rates(run, requests, report);
  note_generator(run, report);
  note_answers(requests, report);
  return report;
}

}  // namespace nl::analysis
