#pragma once

#include <span>
#include <vector>

#include "model/collective_speeds.h"

namespace nl::analysis::collectives {

struct Speeds {
  std::vector<CollectiveSpeed> table;     // by communicator, kind and size; those first that took the most time
  std::uint64_t calls = 0, repeated = 0;  // repeated: a rank's call of one number was there twice, and is counted once
};

// How long collectives of one kind and size took on each rank of a communicator. Calls are paired by their numbers.
Speeds collective_speeds(std::span<const InspectorFile> files);

}  // namespace nl::analysis::collectives
