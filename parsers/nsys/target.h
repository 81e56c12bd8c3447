#pragma once

#include "model/trace.h"
#include "parsers/nsys/database.h"
#include "parsers/nsys/records.h"
#include "parsers/nsys/strings.h"

namespace nl::parsers {

// Who captured, when and for how long, on which GPUs.
void read_capture_facts(const NsysDatabase& database, Trace& trace);
// The names of the processes and threads that the trace refers to.
void read_place_names(const NsysDatabase& database, NsysStrings& strings, const NsysPlaces& places, Trace& trace);

}  // namespace nl::parsers
