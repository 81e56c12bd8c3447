#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/flight_dump.h"

// The calls of several dumps, by the groups that made them together.
namespace nl::analysis::collectives {

// One rank of a group. Collectives are by sequence, sends and receives by record.
struct MemberCalls {
  std::uint32_t rank = 0;
  const FlightDump* dump = nullptr;  // nullptr: it left none
  std::vector<const RecordedCall*> collectives = {}, peers = {};

  // Those under one number: several where they were called as one batch.
  std::span<const RecordedCall* const> at(std::uint64_t sequence) const;
};

struct GroupCalls {
  DumpGroup group;
  std::vector<MemberCalls> members;  // by rank
};

// Groups of one name are one where they have the same ranks. They are in the order of their names, as numbers where they are.
std::vector<GroupCalls> calls_by_group(std::span<const FlightDump> dumps);

}  // namespace nl::analysis::collectives
