#include "analysis/collectives/group_calls.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace nl::analysis::collectives {
namespace {

// A shorter number is the smaller one: "9" comes before "10".
using GroupKey = std::tuple<std::size_t, std::string, std::vector<std::uint32_t>>;
GroupKey key_of(const DumpGroup& group) { return {group.name.size(), group.name, group.ranks}; }

MemberCalls& member_of(std::vector<MemberCalls>& members, std::uint32_t rank) {
  const auto found = std::find_if(members.begin(), members.end(), [&](const MemberCalls& member) { return member.rank == rank; });
  if (found != members.end()) return *found;
  members.push_back({rank});
  return members.back();
}

void add_dump(const FlightDump& dump, std::map<GroupKey, GroupCalls>& groups) {
  std::vector<std::size_t> places;
  std::vector<GroupCalls*> of_dump;
  for (const DumpGroup& group : dump.groups) {
    const auto [found, is_new] = groups.try_emplace(key_of(group));
    GroupCalls& calls = found->second;
    if (is_new) {
      calls.group = group;
      for (const std::uint32_t rank : group.ranks) calls.members.push_back({rank});
    }
    member_of(calls.members, dump.rank).dump = &dump;
    of_dump.push_back(&calls);
  }
  // Found once a group, not once a call.
  for (GroupCalls* calls : of_dump)
    places.push_back(static_cast<std::size_t>(&member_of(calls->members, dump.rank) - calls->members.data()));
  for (const RecordedCall& call : dump.calls) {
    MemberCalls& member = of_dump[call.group]->members[places[call.group]];
    (call.point_to_point ? member.peers : member.collectives).push_back(&call);
  }
}

// A dump lists the groups that its rank has used: others have it as a member before.
void add_unused(std::span<const FlightDump> dumps, GroupCalls& group) {
  for (MemberCalls& member : group.members) {
    if (member.dump != nullptr) continue;
    const auto dump = std::find_if(dumps.begin(), dumps.end(), [&](const FlightDump& each) { return each.rank == member.rank; });
    if (dump != dumps.end()) member.dump = &*dump;
  }
}

}  // namespace

std::span<const RecordedCall* const> MemberCalls::at(std::uint64_t sequence) const {
  const auto begin = std::lower_bound(collectives.begin(), collectives.end(), sequence,
                                      [](const RecordedCall* call, std::uint64_t number) { return call->sequence < number; });
  const auto end = std::upper_bound(begin, collectives.end(), sequence,
                                    [](std::uint64_t number, const RecordedCall* call) { return number < call->sequence; });
  return {begin, end};
}

std::vector<GroupCalls> calls_by_group(std::span<const FlightDump> dumps) {
  std::map<GroupKey, GroupCalls> groups;
  for (const FlightDump& dump : dumps) add_dump(dump, groups);
  std::vector<GroupCalls> all;
  for (auto& [key, calls] : groups) {
    for (MemberCalls& member : calls.members)
      std::stable_sort(member.collectives.begin(), member.collectives.end(),
                       [](const RecordedCall* a, const RecordedCall* b) { return a->sequence < b->sequence; });
    add_unused(dumps, calls);
    std::sort(calls.members.begin(), calls.members.end(), [](const MemberCalls& a, const MemberCalls& b) { return a.rank < b.rank; });
    all.push_back(std::move(calls));
  }
  return all;
}

}  // namespace nl::analysis::collectives
