#pragma once

#include <string>

#include "exporters/report/reports.h"
#include "model/run.h"

namespace nl::exporters {

// What the script of report.html needs of the run, as JSON that can stand in a page: no '<' does.
std::string page_data(const Run& run, const std::string& trace_file);

// The run's one-iteration picture as the bytes of a detail file, for bundles that have none.
std::string detail_of_timeline(const Run& run);

}  // namespace nl::exporters
