#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/run.h"
#include "model/stat_table.h"
#include "model/trace.h"

// What the reports of `nl-stage stats` share. Each builds the rows of one report.
namespace nl::analysis {

struct NamedTimes {
  std::string name;
  std::string style;  // only of ranges
  TimeSummary time;
};

// Adds "Time (%) … StdDev" and then the names for each entry, longest total first. Entries must come in the
// order in which ties are to stay.
void add_time_rows(std::vector<NamedTimes> entries, StatTable& table);

std::string_view style_name(RangeStyle style);                  // "PushPop", "StartEnd"
std::string range_tag(const Trace& trace, const Range& range);  // "LLM:prefill", ":name" in the default domain
// The latest start or end of any range, which is where nsys ends those that were never closed.
Ns last_range_time(const Trace& trace);

StatTable kernel_sum(const Trace& trace);
StatTable api_sum(const Trace& trace);
StatTable mem_time_sum(const Trace& trace);
StatTable range_sum(const Trace& trace);
StatTable range_projection_sum(const Trace& trace);
StatTable range_kernel_sum(const Trace& trace);

}  // namespace nl::analysis
