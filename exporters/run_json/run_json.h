#pragma once

#include <string>
#include <string_view>

#include "model/run.h"

namespace nl {
struct Comparison;
struct SuiteReport;
}  // namespace nl

// The JSON files that have a schema. What stands in each is declared once, as fields(): the file, its reader and its schema come from it.
namespace nl::exporters {

// The files, two-space indented.
std::string run_to_json(const Run& run);
std::string comparison_to_json(const Comparison& comparison);
std::string suite_to_json(const SuiteReport& report);

Run run_from_json(std::string_view text);  // Error(kInput) where it is not one

// The texts of schema/run.schema.json, schema/compare.schema.json and schema/suite.schema.json.
std::string run_json_schema();
std::string comparison_schema();
std::string suite_schema();

}  // namespace nl::exporters
