#pragma once

#include <string>

#include "model/run.h"

namespace nl::exporters {

// report.html: one file that needs nothing else, neither a network nor JavaScript. The script in it only sorts and
// filters tables, zooms the timeline and changes the theme. What is long is cut with its rest summed, so that the file
// stays under 5 MB whatever was captured.
std::string report_html(const Run& run);

}  // namespace nl::exporters
