#pragma once

#include <string>
#include <vector>

#include "model/load_report.h"

// What loads say, each text whole.
namespace nl::exporters {

std::string load_markdown(const std::vector<LoadReport>& reports);
std::string load_text(const std::vector<LoadReport>& reports, std::size_t width);  // for a terminal so wide
std::string load_json(const std::vector<LoadReport>& reports,
                      const std::string& records);  // `records`: the file that has them; empty: none

}  // namespace nl::exporters
