#pragma once

#include <optional>
#include <vector>

#include "analysis/collectives/group_calls.h"
#include "model/flight_report.h"

namespace nl::analysis::collectives {

std::vector<MemberState> states_of(const GroupCalls& group);

// The first call of the group that is not done, and what each member has done of it.
std::optional<GroupWait> first_wait(const GroupCalls& group);

// The sends and receives of a group that are not done: of each rank the first one to and from each other.
std::vector<PeerWait> peer_waits(const GroupCalls& group, std::uint32_t number);

}  // namespace nl::analysis::collectives
