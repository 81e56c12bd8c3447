#pragma once

#include <string>

#include "model/run.h"

namespace nl::exporters {

// report.md: what was captured and how, where the time of each stage went, and what is not known.
std::string report_markdown(const Run& run);

}  // namespace nl::exporters
