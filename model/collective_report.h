#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/collective_speeds.h"
#include "model/error_code.h"
#include "model/flight_report.h"

namespace nl {

// What files of PyTorch's flight recorder and of NCCL Inspector say of a job's collectives.
struct CollectiveReport {
  std::optional<FlightReport> flight;
  std::vector<CollectiveSpeed> speeds;
  std::uint64_t inspector_files = 0, timed_calls = 0, repeated_calls = 0, damaged_lines = 0;
  std::vector<CodedError> skipped;  // why a file was left out; `where` names it
};

}  // namespace nl
