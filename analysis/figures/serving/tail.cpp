#include "analysis/figures/serving/tail.h"

#include <algorithm>
#include <limits>
#include <map>

#include "analysis/statistics/time_summary.h"

namespace nl::analysis::serving {
namespace {

using enum ServingPart;

constexpr std::size_t kLeastPeers = 5, kMostPeers = 2000, kMostBeside = 5;
constexpr double kSlower = 1.2;      // than the median of its peers: then it is slow against them
constexpr Ns kSlowerNs = 1'000'000;  // and by at least so much
constexpr std::uint64_t kNear = 8;   // tokens

bool near(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t more = std::max(a, b), apart = more - std::min(a, b);
  return apart <= std::max(kNear, more / 5);
}

// Its own computing: long where there is much to compute.
bool own(ServingPart part) { return part == kPrefill || part == kDecode || part == kUndivided; }

ServingPart largest(const ServingTimes& times, bool with_own) {
  ServingPart best = kQueue;
  Ns most = std::numeric_limits<Ns>::min();
  for (std::size_t i = 0; i < kServingParts; ++i) {
    const auto part = static_cast<ServingPart>(i);
    if ((!own(part) || with_own) && times[part] > most) best = part, most = times[part];
  }
  return best;
}

struct Judged {
  const ServingRequest* request = nullptr;
  std::vector<const ServingRequest*> peers;
  double median_ns = 0;
  bool compared() const { return peers.size() >= kLeastPeers; }
  double slowness() const { return static_cast<double>(request->times.total()) / median_ns; }
};

Judged judged(const ServingRequest& request, const std::vector<const ServingRequest*>& by_prompt) {
  Judged out{&request, {}, 0};
  if (!request.prompt_tokens || !request.output_tokens) return out;
  // Those whose prompt is about as long stand beside each other.
  const auto first = std::partition_point(by_prompt.begin(), by_prompt.end(), [&](const ServingRequest* each) {
    return each->prompt_tokens.value_or(0) < *request.prompt_tokens && !near(each->prompt_tokens.value_or(0), *request.prompt_tokens);
  });
  for (auto each = first; each != by_prompt.end() && out.peers.size() < kMostPeers; ++each) {
    if (!near((*each)->prompt_tokens.value_or(0), *request.prompt_tokens)) break;
    if (*each != &request && like_sizes(**each, request)) out.peers.push_back(*each);
  }
  if (!out.compared()) return out;
  std::vector<Ns> times;
  for (const ServingRequest* peer : out.peers) times.push_back(peer->times.total());
  out.median_ns = std::max(1.0, median_in_place(times));
  return out;
}

ServingTimes excess_of(const Judged& judged) {
  ServingTimes excess;
  for (std::size_t i = 0; i < kServingParts; ++i) {
    std::vector<Ns> times;
    for (const ServingRequest* peer : judged.peers) times.push_back(peer->times.ns[i]);
    excess.ns[i] = judged.request->times.ns[i] - static_cast<Ns>(median_in_place(times));
  }
  return excess;
}

SlowRequest told(const Judged& judged) {
  const ServingRequest& request = *judged.request;
  SlowRequest out;
  out.id = request.id;
  out.latency_ns = request.times.total();
  out.peers = judged.peers.size();
  if (judged.compared()) {
    out.peer_median_ns = judged.median_ns;
    out.excess = excess_of(judged);
    out.slower_than_peers = static_cast<double>(out.latency_ns) > kSlower * judged.median_ns &&
                            static_cast<double>(out.latency_ns) > judged.median_ns + static_cast<double>(kSlowerNs);
  }
  out.cause = largest(out.slower_than_peers ? out.excess : request.times, out.slower_than_peers);
  out.cause_ns = out.slower_than_peers ? out.excess[out.cause] : request.times[out.cause];
  if (out.cause_ns <= 0) {
    out.cause = largest(request.times, true);
    out.cause_ns = request.times[out.cause];
  }
  return out;
}

std::vector<ServingCause> causes_of(const std::vector<SlowRequest>& requests) {
  std::map<ServingPart, ServingCause> sums;
  for (const SlowRequest& slow : requests) {
    ServingCause& cause = sums[slow.cause];
    cause.part = slow.cause;
    ++cause.requests;
    cause.ns += slow.cause_ns;
  }
  std::vector<ServingCause> out;
  for (const auto& [part, cause] : sums) out.push_back(cause);
  std::stable_sort(out.begin(), out.end(), [](const ServingCause& a, const ServingCause& b) { return a.ns > b.ns; });
  return out;
}

}  // namespace

bool like_sizes(const ServingRequest& a, const ServingRequest& b) {
  return a.prompt_tokens && b.prompt_tokens && a.output_tokens && b.output_tokens && near(*a.prompt_tokens, *b.prompt_tokens) &&
         near(*a.output_tokens, *b.output_tokens);
}

ServingTail tail_of(const std::vector<ServingRequest>& requests) {
  ServingTail tail;
  std::vector<ServingRequest> judged_requests;
  for (const ServingRequest& request : requests)
    if (request.judged()) judged_requests.push_back(request);
  // Of some requests only, the network would make them slower than others.
  const bool all_joined = std::all_of(judged_requests.begin(), judged_requests.end(),
                                      [](const ServingRequest& each) { return each.network_before_ns.has_value(); });
  std::vector<const ServingRequest*> by_prompt;
  for (ServingRequest& request : judged_requests) {
    if (!all_joined) request.times[kNetwork] = 0;
    by_prompt.push_back(&request);
  }
  tail.judged = by_prompt.size();
  for (const ServingRequest& request : judged_requests)
    for (std::size_t i = 0; i < kServingParts; ++i) tail.judged_times.ns[i] += request.times.ns[i];
  if (by_prompt.empty()) return tail;
  std::stable_sort(by_prompt.begin(), by_prompt.end(), [](const ServingRequest* a, const ServingRequest* b) {
    return a->prompt_tokens.value_or(0) < b->prompt_tokens.value_or(0);
  });
  std::vector<Judged> all;
  for (const ServingRequest* request : by_prompt) all.push_back(judged(*request, by_prompt));
  std::stable_sort(all.begin(), all.end(), [](const Judged& a, const Judged& b) {
    if (a.compared() != b.compared()) return a.compared();
    return a.compared() ? a.slowness() > b.slowness() : a.request->times.total() > b.request->times.total();
  });
  all.resize((all.size() + 99) / 100);
  for (const Judged& each : all) {
    tail.requests.push_back(told(each));
    tail.latency_ns += each.request->times.total();
    for (std::size_t i = 0; i < kServingParts; ++i) tail.times.ns[i] += each.request->times.ns[i];
  }
  tail.causes = causes_of(tail.requests);
  return tail;
}

std::vector<std::uint64_t> prompts_beside(const Events& events, const Life& life) {
  if (life.worker == kNoWorker) return {};
  std::map<std::uint32_t, double> sums;
  for (const OwnStep& own : life.own) {
    const Step& step = events.workers[life.worker].steps[own.step];
    if (own.prefill || step.prefill_tokens == 0) continue;
    for (const StepEntry& entry : step.entries)
      if (entry.prefill) sums[entry.request] += static_cast<double>(entry.tokens);
  }
  std::vector<std::pair<double, std::uint64_t>> ranked;
  for (const auto& [request, tokens] : sums) ranked.emplace_back(-tokens, events.requests[request].id);
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < std::min(ranked.size(), kMostBeside); ++i) ids.push_back(ranked[i].second);
  return ids;
}

}  // namespace nl::analysis::serving
