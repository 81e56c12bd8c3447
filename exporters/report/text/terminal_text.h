#pragma once

#include <cstddef>
#include <string>

#include "exporters/report/text/document.h"

namespace nl::exporters {

// A document for a terminal so many places wide, without its title: prose is broken into lines, tables are fitted, and figures are
// left out.
std::string terminal_text(const report::Document& document, std::size_t width);

}  // namespace nl::exporters
