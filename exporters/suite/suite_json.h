#pragma once

#include <string>

#include "model/suite_report.h"

namespace nl::exporters {

std::string suite_to_json(const SuiteReport& report);  // schema/suite.schema.json, two-space indented
std::string suite_schema();                            // the text of schema/suite.schema.json

}  // namespace nl::exporters
