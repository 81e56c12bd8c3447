#include "analysis/replay/excerpt.h"

#include <algorithm>

namespace nl::analysis {
namespace {

// By what it was: what it is now, or kNone.
template <class Item>
std::vector<std::uint32_t> kept_numbers(const std::vector<Item>& items, Ns from_ns, Ns to_ns) {
  std::vector<std::uint32_t> numbers(items.size(), kNone);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (items[i].start_ns >= from_ns && items[i].start_ns < to_ns) numbers[i] = next++;
  return numbers;
}

}  // namespace

ReplayGraph excerpt(const ReplayGraph& graph, Ns from_ns, Ns to_ns) {
  const std::vector<std::uint32_t> calls = kept_numbers(graph.calls, from_ns, to_ns), works = kept_numbers(graph.works, from_ns, to_ns);
  const auto number = [](const std::vector<std::uint32_t>& numbers, std::uint32_t old) { return old != kNone ? numbers[old] : kNone; };
  ReplayGraph part;
  part.usual = graph.usual;
  part.from_ns = from_ns;
  part.to_ns = to_ns;
  for (std::size_t i = 0, thread = 0; i <= graph.calls.size(); ++i) {
    for (; thread < graph.first_call.size() && graph.first_call[thread] == i; ++thread)
      part.first_call.push_back(static_cast<std::uint32_t>(part.calls.size()));
    if (i == graph.calls.size() || calls[i] == kNone) continue;
    ReplayCall call = graph.calls[i];
    call.previous = number(calls, call.previous);
    call.handed_by = number(calls, call.handed_by);
    const std::uint32_t first = call.first_wait, last = call.first_wait + call.waits;
    call.first_wait = static_cast<std::uint32_t>(part.waited.size());
    for (std::uint32_t at = first; at < last; ++at)
      if (works[graph.waited[at]] != kNone) part.waited.push_back(works[graph.waited[at]]);
    call.waits = static_cast<std::uint32_t>(part.waited.size()) - call.first_wait;
    part.calls.push_back(call);
  }
  for (std::size_t i = 0; i < graph.works.size(); ++i) {
    if (works[i] == kNone) continue;
    ReplayWork work = graph.works[i];
    work.call = number(calls, work.call);
    work.before = number(works, work.before);
    work.other = number(works, work.other);
    work.collective = kNone;
    part.works.push_back(work);
  }
  for (const auto& members : graph.collectives) {
    const bool whole = std::all_of(members.begin(), members.end(), [&](std::uint32_t member) { return works[member] != kNone; });
    if (!whole) continue;
    for (const std::uint32_t member : members) part.works[works[member]].collective = static_cast<std::uint32_t>(part.collectives.size());
    part.collectives.emplace_back();
    for (const std::uint32_t member : members) part.collectives.back().push_back(works[member]);
  }
  for (const ReplayEvent& event : graph.order) {
    const std::uint32_t now = event.what == ReplayEvent::What::kWork ? works[event.index] : calls[event.index];
    if (now != kNone) part.order.push_back({now, event.what});
  }
  return part;
}

}  // namespace nl::analysis
