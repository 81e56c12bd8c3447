#pragma once

#include <string>
#include <string_view>

#include "model/run.h"

namespace nl::exporters {

std::string run_to_json(const Run& run);   // schema/run.schema.json, two-space indented
std::string run_json_schema();             // the text of schema/run.schema.json
Run run_from_json(std::string_view text);  // Error(kInput) where it is not one

}  // namespace nl::exporters
