#pragma once

#include "analysis/load/definitions.h"

namespace nl::analysis {

// Requests, tokens and good requests a second, by the time that each tool divides by, and the goodput of nl-stage.
void add_rates(const LoadRun& run, const Answered& requests, LoadReport& report);

}  // namespace nl::analysis
