#pragma once

#include <string>

#include "model/comparison.h"

namespace nl::exporters {

std::string comparison_to_json(const Comparison& comparison);  // schema/compare.schema.json, two-space indented
std::string comparison_schema();                               // the text of schema/compare.schema.json

}  // namespace nl::exporters
