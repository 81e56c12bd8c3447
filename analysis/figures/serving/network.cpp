#include "analysis/figures/serving/network.h"

#include <string>
#include <unordered_map>

namespace nl::analysis::serving {
namespace {

// What a time of the client's is before the capture's time 0; nothing: its clock is not known there.
std::optional<Ns> clock_offset(const LoadRun& load, const Trace& trace) {
  if (load.clock == LoadClock::kMonotonic) return trace.monotonic_start_ns;
  if (load.clock == LoadClock::kEpoch && trace.utc_start_ns) return *trace.utc_start_ns;
  return std::nullopt;
}

class Joiner {
 public:
  Joiner(std::vector<ServingRequest>& requests, Damage& damage, Serving& out) : requests_(requests), damage_(damage), out_(out) {
    for (std::size_t i = 0; i < requests.size(); ++i)
      if (!requests[i].name.empty()) by_name_.try_emplace(requests[i].name, i);
  }

  void add(const LoadRequest& sent, Ns offset_ns) {
    if (sent.outcome != RequestOutcome::kAnswered || !sent.sent_ns || !sent.end_ns) return;
    const Ns sent_ns = *sent.sent_ns - offset_ns, end_ns = *sent.end_ns - offset_ns;
    const auto found = by_name_.find(sent.id);
    if (found == by_name_.end()) {
      if (sent_ns >= out_.start_ns && end_ns <= out_.end_ns) ++damage_[ServingDamage::kClientNotFound];
      return;
    }
    ServingRequest& request = requests_[found->second];
    if (!request.whole() || request.network_before_ns) return;
    if (sent_ns > request.start_ns || end_ns < request.end_ns) {
      ++damage_[ServingDamage::kClientTimes];
      return;
    }
    request.network_before_ns = request.start_ns - sent_ns;
    request.network_after_ns = end_ns - request.end_ns;
    request.times[ServingPart::kNetwork] = *request.network_before_ns + *request.network_after_ns;
    ++out_.joined;
  }

 private:
  std::vector<ServingRequest>& requests_;
  Damage& damage_;
  Serving& out_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace

void join_client(const std::vector<LoadRun>& loads, const Trace& trace, std::vector<ServingRequest>& requests, Damage& damage,
                 Serving& out) {
  bool any_clock = false, any_ids = false;
  Joiner join(requests, damage, out);
  for (const LoadRun& load : loads) {
    out.client = load.arrivals;
    const std::optional<Ns> offset_ns = clock_offset(load, trace);
    any_clock = any_clock || offset_ns;
    for (const LoadRequest& request : load.requests) {
      any_ids = any_ids || !request.id.empty();
      if (offset_ns && !request.id.empty()) join.add(request, *offset_ns);
    }
  }
  if (loads.empty()) out.network = NetworkState::kNoRecords;
  else if (!any_clock) out.network = NetworkState::kNoClock;
  else out.network = any_ids ? NetworkState::kJoined : NetworkState::kNoIds;
}

}  // namespace nl::analysis::serving
