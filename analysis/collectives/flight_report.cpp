#include "analysis/collectives/flight_report.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/collectives/group_calls.h"
#include "analysis/collectives/mismatch.h"
#include "analysis/collectives/waits.h"

namespace nl::analysis::collectives {
namespace {

using Ranks = std::set<std::uint32_t>;
using WaitsFor = std::map<std::uint32_t, Ranks>;  // a rank, and those that it waits for

std::vector<std::uint32_t> list_of(const Ranks& ranks) { return {ranks.begin(), ranks.end()}; }

void add_waits(const GroupWait& wait, WaitsFor& waits) {
  if (wait.done_elsewhere) return;
  const std::vector<std::uint32_t>& for_whom = wait.not_called.empty() ? wait.no_dump : wait.not_called;
  for (const auto* waiting : {&wait.started, &wait.scheduled})
    for (const std::uint32_t rank : *waiting) waits[rank].insert(for_whom.begin(), for_whom.end());
}

WaitsFor waits_in(const FlightReport& report) {
  WaitsFor waits;
  for (const GroupReport& group : report.groups)
    if (group.wait) add_waits(*group.wait, waits);
  for (const PeerWait& peer : report.peers)
    if (!peer.peer_has_dump || peer.peer_called == false) waits[peer.rank].insert(peer.peer);
  return waits;
}

void add_last_call(const FlightDump& dump, WaitedFor& out) {
  out.has_dump = true;
  if (dump.calls.empty()) return;
  const RecordedCall& last = dump.calls.back();
  out.last_kind = dump.forms[last.form].kind;
  out.last_group = dump.groups[last.group].name;
  out.last_sequence = last.point_to_point ? last.peer_sequence : last.sequence;
  out.last_state = last.state;
  out.last_stack = dump.stacks[last.stack];
}

std::vector<WaitedFor> waited_for(const WaitsFor& waits, std::span<const FlightDump> dumps) {
  std::map<std::uint32_t, Ranks> waiting;
  for (const auto& [rank, for_whom] : waits)
    for (const std::uint32_t other : for_whom) waiting[other].insert(rank);
  std::vector<WaitedFor> out;
  for (const auto& [rank, by] : waiting) {
    WaitedFor each;
    each.rank = rank;
    each.by = list_of(by);
    if (const auto own = waits.find(rank); own != waits.end()) each.waits_for = list_of(own->second);
    const auto dump = std::find_if(dumps.begin(), dumps.end(), [rank = rank](const FlightDump& one) { return one.rank == rank; });
    if (dump != dumps.end()) add_last_call(*dump, each);
    out.push_back(std::move(each));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const WaitedFor& a, const WaitedFor& b) { return a.waits_for.empty() > b.waits_for.empty(); });
  return out;
}

FlightVerdict verdict_of(const FlightReport& report) {
  const auto any = [&](auto is) { return std::any_of(report.groups.begin(), report.groups.end(), is); };
  if (any([](const GroupReport& group) { return group.mismatch.has_value(); })) return FlightVerdict::kMismatch;
  const bool waits = any([](const GroupReport& group) { return group.wait.has_value(); }) || !report.peers.empty();
  if (!waits) return FlightVerdict::kNothingWaits;
  const auto& whom = report.waited_for;
  if (std::any_of(whom.begin(), whom.end(), [](const WaitedFor& each) { return each.has_dump && each.waits_for.empty(); }))
    return FlightVerdict::kNotCalled;
  if (std::any_of(whom.begin(), whom.end(), [](const WaitedFor& each) { return !each.has_dump; })) return FlightVerdict::kNoDump;
  if (!whom.empty()) return FlightVerdict::kCircle;
  const auto all_called = [](const GroupReport& group) { return group.wait && group.wait->unknown.empty() && !group.wait->done_elsewhere; };
  const auto peer_called = [](const PeerWait& peer) { return peer.peer_called == true; };
  return any(all_called) || std::any_of(report.peers.begin(), report.peers.end(), peer_called) ? FlightVerdict::kAllCalled
                                                                                               : FlightVerdict::kUnknown;
}

// The dumps of one job end together, or nearly so: where all calls of one are older than all of another, that is worth a word.
void add_times(std::span<const FlightDump> dumps, FlightReport& report) {
  const FlightDump *early = nullptr, *late = nullptr;
  Ns first_end = 0, last_begin = 0;
  for (const FlightDump& dump : dumps) {
    if (dump.calls.empty() || dump.calls.front().created_ns == 0) continue;
    const auto [begin, end] =
        std::minmax_element(dump.calls.begin(), dump.calls.end(), [](const auto& a, const auto& b) { return a.created_ns < b.created_ns; });
    if (early == nullptr || end->created_ns < first_end) early = &dump, first_end = end->created_ns;
    if (late == nullptr || begin->created_ns > last_begin) late = &dump, last_begin = begin->created_ns;
  }
  if (early == nullptr || last_begin <= first_end) return;
  report.apart_ns = last_begin - first_end;
  report.early_rank = early->rank;
  report.late_rank = late->rank;
}

void add_dumps(std::span<const FlightDump> dumps, FlightReport& report) {
  for (const FlightDump& dump : dumps) {
    report.ranks.push_back(dump.rank);
    report.calls += dump.calls.size();
    report.damaged_calls += dump.damaged_calls;
    if (dump.begins_late()) report.begin_late.push_back(dump.rank);
    if (!dump.has_every_call()) report.incomplete.push_back(dump.rank);
  }
  add_times(dumps, report);
}

std::vector<std::uint32_t> missing_of(const FlightReport& report) {
  Ranks missing;
  for (const GroupReport& group : report.groups)
    for (const MemberState& member : group.members)
      if (!member.has_dump) missing.insert(member.rank);
  for (const std::uint32_t rank : report.ranks) missing.erase(rank);
  return list_of(missing);
}

}  // namespace

FlightReport flight_report(std::span<const FlightDump> dumps) {
  FlightReport report;
  add_dumps(dumps, report);
  for (const GroupCalls& calls : calls_by_group(dumps)) {
    const auto number = static_cast<std::uint32_t>(report.groups.size());
    for (PeerWait& wait : peer_waits(calls, number)) report.peers.push_back(std::move(wait));
    report.groups.push_back({calls.group, states_of(calls), first_mismatch(calls), first_wait(calls)});
  }
  report.missing = missing_of(report);
  report.waited_for = waited_for(waits_in(report), dumps);
  report.verdict = verdict_of(report);
  return report;
}

}  // namespace nl::analysis::collectives
