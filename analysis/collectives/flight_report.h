#pragma once

#include <span>

#include "model/flight_report.h"

namespace nl::analysis::collectives {

// What the dumps of the ranks of one job show together; one of each rank, by rank.
FlightReport flight_report(std::span<const FlightDump> dumps);

}  // namespace nl::analysis::collectives
