#include "analysis/account/lane_time.h"

#include <algorithm>

namespace nl::analysis {

LaneTime::Kind& LaneTime::kind(std::optional<Collective> which) {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& each) { return each.which == which; });
  if (found != kinds_.end()) return *found;
  return kinds_.emplace_back(Kind{which, {}, compute_});
}

void LaneTime::add_communication(const LaneWork& work) {
  for (const std::optional<Collective> which : {std::optional<Collective>(), work.communication}) {
    Kind& each = kind(which);
    each.alone.add(work.start_ns, work.end_ns);
    each.with_compute.add(work.start_ns, work.end_ns);
  }
}

LaneTime::Mark LaneTime::at(Ns time_ns) const {
  Mark mark{busy_.before(time_ns), compute_.before(time_ns), {}};
  for (const Kind& each : kinds_) mark.kinds.push_back({each.alone.before(time_ns), each.with_compute.before(time_ns)});
  return mark;
}

LaneTime::Span LaneTime::since(const Mark& mark, Ns time_ns, CommunicationSums& kinds) const {
  Span span;
  span.busy_ns = busy_.before(time_ns) - mark.busy_ns;
  span.compute_ns = compute_.before(time_ns) - mark.compute_ns;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const Mark::Kind before = i < mark.kinds.size() ? mark.kinds[i] : Mark::Kind{0, mark.compute_ns};
    const Ns alone = kinds_[i].alone.before(time_ns) - before.alone_ns;
    const Ns exposed = kinds_[i].with_compute.before(time_ns) - before.with_compute_ns - span.compute_ns;
    if (!kinds_[i].which) {
      span.communication_ns = alone;
      span.exposed_communication_ns = exposed;
      continue;
    }
    CommunicationSum& sum = kinds[static_cast<std::size_t>(*kinds_[i].which)];
    sum.time_ns += alone;
    sum.exposed_ns += exposed;
  }
  return span;
}

}  // namespace nl::analysis
