#pragma once

#include <optional>

#include "analysis/collectives/group_calls.h"
#include "model/flight_report.h"

namespace nl::analysis::collectives {

// The first number under which ranks of the group called different things: another kind, other numbers of elements or another type. The first call that a recorder kept may be a part of a batch,
// whose rest was written over: it is not looked at.
std::optional<Mismatch> first_mismatch(const GroupCalls& group);

}  // namespace nl::analysis::collectives
