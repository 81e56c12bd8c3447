#pragma once

#include "model/trace.h"
#include "parsers/nsys/correlation.h"
#include "parsers/nsys/database.h"
#include "parsers/nsys/records.h"
#include "parsers/nsys/strings.h"

namespace nl::parsers {

// CUPTI_ACTIVITY_KIND_RUNTIME. Every call goes into api_stats, in the order of the name ids, which is the
// order nsys falls back on; those that launched GPU work or waited for it also become api_calls, sorted
// by thread and start.
void read_api_calls(const NsysDatabase& database, const Launches& launches, NsysStrings& strings, NsysPlaces& places,
                    Trace& trace, bool all_calls = false);

}  // namespace nl::parsers
