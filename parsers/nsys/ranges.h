#pragma once

#include "model/trace.h"
#include "parsers/nsys/database.h"
#include "parsers/nsys/records.h"
#include "parsers/nsys/strings.h"

namespace nl::parsers {

// NVTX_EVENTS: ranges and marks with the names of their domains. A range that was never closed ends with
// the capture, so trace.duration_ns must be known before.
void read_ranges(const NsysDatabase& database, NsysStrings& strings, NsysPlaces& places, Trace& trace);

}  // namespace nl::parsers
