#include "analysis/figures/serving/curves.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/statistics/quantile.h"
#include "analysis/statistics/time_order.h"
#include "analysis/statistics/time_summary.h"

namespace nl::analysis::serving {
namespace {

using Figure = ServingLatency::Figure;

constexpr std::array kShares = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99};
constexpr std::size_t kPieces = 200, kTracks = 40, kColumns = 240, kLongest = 20;

std::optional<double> value_of(Figure figure, const ServingRequest& request) {
  switch (figure) {
    case Figure::kQueue: return static_cast<double>(request.times[ServingPart::kQueue]);
    case Figure::kTtft: return request.first_token_ns;
    case Figure::kTpot: {
      if (!request.first_token_ns || !request.output_tokens || *request.output_tokens < 2) return std::nullopt;
      return static_cast<double>(request.server_ns() - *request.first_token_ns) / static_cast<double>(*request.output_tokens - 1);
    }
    case Figure::kTotal: return static_cast<double>(request.server_ns());
  }
  return std::nullopt;
}

bool enough_for(double share, std::size_t count) {
  if (share > 0.95) return count >= kLeastForP99;
  return share < 0.9 || count >= kLeastForP95;
}

ServingLatency latency(Figure figure, std::vector<double> values) {
  ServingLatency out;
  out.figure = figure;
  out.count = values.size();
  for (const double value : values) out.mean_ns += value / static_cast<double>(values.size());
  const double independent = static_cast<double>(values.size()) / autocorrelation_time(values);
  std::sort(values.begin(), values.end());
  for (const double share : kShares) {
    if (!enough_for(share, values.size())) continue;
    const double median = linear_quantile(values, share);
    ServingLatency::Quantile each{share, share == 0.5 ? median : nearest_rank(values, share), {}, {}};
    if (const auto interval = quantile_interval(values, share, independent)) each.low_ns = interval->low, each.high_ns = interval->high;
    out.quantiles.push_back(each);
  }
  return out;
}

// Adds how much of each piece of the window the span is.
void add_cover(const ServingSeries& series, Ns start_ns, Ns end_ns, double weight, std::vector<double>& to) {
  for (Ns at = start_ns; at < end_ns;) {
    const auto piece = static_cast<std::size_t>((at - series.start_ns) / series.step_ns);
    if (piece >= to.size()) return;
    const Ns until = std::min(end_ns, series.start_ns + static_cast<Ns>(piece + 1) * series.step_ns);
    to[piece] += weight * static_cast<double>(until - at) / static_cast<double>(series.step_ns);
    at = until;
  }
}

bool waits(ServingPart part) { return part == ServingPart::kQueue || part == ServingPart::kPreemption; }

// What most of each column of the picture is.
std::vector<ServingSpan> drawn(const std::vector<ServingSpan>& spans, Ns column_ns) {
  std::vector<ServingSpan> out;
  if (spans.empty()) return out;
  std::size_t first = 0;
  for (Ns at = spans.front().start_ns; at < spans.back().end_ns;) {
    const Ns until = std::min(at + column_ns, spans.back().end_ns);
    ServingTimes times;
    while (first < spans.size() && spans[first].end_ns <= at) ++first;
    for (std::size_t i = first; i < spans.size() && spans[i].start_ns < until; ++i)
      times[spans[i].part] += std::min(until, spans[i].end_ns) - std::max(at, spans[i].start_ns);
    const auto most = std::max_element(times.ns.begin(), times.ns.end());
    const auto part = static_cast<ServingPart>(most - times.ns.begin());
    if (!out.empty() && out.back().part == part) out.back().end_ns = until;
    else out.push_back({at, until, part});
    at = until;
  }
  return out;
}

}  // namespace

std::vector<ServingLatency> latencies_of(const std::vector<ServingRequest>& requests) {
  std::vector<ServingLatency> out;
  for (const Figure figure : {Figure::kQueue, Figure::kTtft, Figure::kTpot, Figure::kTotal}) {
    std::vector<double> values;
    for (const ServingRequest& request : requests)
      if (const auto value = request.judged() ? value_of(figure, request) : std::nullopt) values.push_back(*value);
    if (!values.empty()) out.push_back(latency(figure, std::move(values)));
  }
  return out;
}

ServingSeries series_of(const Events& events, const Window& window, const SpansByRequest& spans) {
  ServingSeries out;
  if (window.end_ns <= window.start_ns) return out;
  out.start_ns = window.start_ns;
  out.step_ns = (window.end_ns - window.start_ns + static_cast<Ns>(kPieces) - 1) / static_cast<Ns>(kPieces);
  const auto pieces = static_cast<std::size_t>((window.end_ns - window.start_ns + out.step_ns - 1) / out.step_ns);
  for (auto* values : {&out.arrivals, &out.running, &out.waiting, &out.batch}) values->assign(pieces, 0);
  for (const RequestEvents& request : events.requests)
    if (request.arrived_ns && *request.arrived_ns >= window.start_ns && *request.arrived_ns <= window.end_ns)
      ++out.arrivals[std::min(pieces - 1, static_cast<std::size_t>((*request.arrived_ns - window.start_ns) / out.step_ns))];
  for (const auto& of_request : spans)
    for (const ServingSpan& span : of_request)
      if (span.part != ServingPart::kDetokenising)
        add_cover(out, span.start_ns, span.end_ns, 1, waits(span.part) ? out.waiting : out.running);
  std::vector<double> busy(pieces, 0);
  for (const Worker& worker : events.workers)
    for (const Step& step : worker.steps) {
      const Ns start = std::max(step.start_ns, window.start_ns), end = std::min(step.end_ns, window.end_ns);
      add_cover(out, start, end, 1, busy);
      add_cover(out, start, end, static_cast<double>(step.entries.size()), out.batch);
    }
  for (std::size_t i = 0; i < pieces; ++i) out.batch[i] = busy[i] > 0 ? out.batch[i] / busy[i] : 0;
  return out;
}

std::vector<ServingTrack> tracks_of(const Events& events, const std::vector<Life>& lives, const SpansByRequest& spans,
                                    const ServingTail& tail) {
  std::uint32_t slowest = kNoWorker;
  for (std::uint32_t i = 0; i < lives.size(); ++i)
    if (!tail.requests.empty() && events.requests[i].id == tail.requests.front().id) slowest = i;
  if (slowest == kNoWorker) return {};
  const Life& around = lives[slowest];
  std::vector<std::pair<Ns, std::uint32_t>> beside;  // time together, negative
  for (std::uint32_t i = 0; i < lives.size(); ++i) {
    const Ns together = std::min(lives[i].end_ns, around.end_ns) - std::max(lives[i].start_ns, around.start_ns);
    if (together > 0 && i != slowest) beside.emplace_back(-together, i);
  }
  std::sort(beside.begin(), beside.end());
  std::vector<std::uint32_t> chosen = {slowest};
  for (std::size_t i = 0; i < beside.size() && chosen.size() < kTracks; ++i) chosen.push_back(beside[i].second);
  std::stable_sort(chosen.begin(), chosen.end(), [&](std::uint32_t a, std::uint32_t b) { return lives[a].start_ns < lives[b].start_ns; });
  Ns first = around.start_ns, last = around.end_ns;
  for (const std::uint32_t each : chosen) first = std::min(first, lives[each].start_ns), last = std::max(last, lives[each].end_ns);
  const Ns column_ns = std::max<Ns>(1, (last - first) / static_cast<Ns>(kColumns));
  std::vector<ServingTrack> out;
  for (const std::uint32_t each : chosen) out.push_back({events.requests[each].id, drawn(spans[each], column_ns)});
  return out;
}

std::vector<ServingSteps> step_kinds(const Events& events) {
  std::vector<ServingSteps> out;
  for (const auto kind : {ServingStepKind::kPrefill, ServingStepKind::kDecode, ServingStepKind::kMixed}) {
    ServingSteps of_kind;
    of_kind.kind = kind;
    std::vector<Ns> walls;
    for (const Worker& worker : events.workers)
      for (const Step& step : worker.steps) {
        if (step.kind() != kind) continue;
        walls.push_back(step.end_ns - step.start_ns);
        of_kind.requests += step.entries.size();
        of_kind.prefill_tokens += step.prefill_tokens;
        of_kind.decode_tokens += step.decode_tokens;
        if (step.gpu_ns) of_kind.gpu_ns = of_kind.gpu_ns.value_or(0) + *step.gpu_ns;
      }
    if (walls.empty()) continue;
    of_kind.wall = summarise_times(walls);
    out.push_back(of_kind);
  }
  return out;
}

std::vector<ServingStep> longest_steps(const Events& events) {
  std::vector<ServingStep> all;
  for (std::uint32_t worker = 0; worker < events.workers.size(); ++worker)
    for (const Step& step : events.workers[worker].steps)
      all.push_back({worker, step.index, step.start_ns, step.end_ns, step.prefills, step.decodes, step.prefill_tokens, step.gpu_ns});
  const auto longer = [](const ServingStep& a, const ServingStep& b) { return a.end_ns - a.start_ns > b.end_ns - b.start_ns; };
  std::stable_sort(all.begin(), all.end(), longer);
  if (all.size() > kLongest) all.resize(kLongest);
  return all;
}

}  // namespace nl::analysis::serving
