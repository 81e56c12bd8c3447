#pragma once

#include <string>
#include <string_view>

namespace nl::orchestrator {

// Of a run.json, a compare.json or a suite.json. Throws Error(kInput) with the JSON pointer of the first thing that is wrong and the reason; of an older format it says
// so and looks no further. `where` is the file it came from.
void validate_run_json(std::string_view json, const std::string& where = "run.json");

}  // namespace nl::orchestrator
