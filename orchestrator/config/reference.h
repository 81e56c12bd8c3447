#pragma once

#include <string>

namespace nl::orchestrator {

// Every key for a terminal: `nl-stage plan --keys`.
std::string config_keys_text();
std::string config_keys_json();  // {keys: [{key, help, type, allowed, least, most, default}]}

// The same as the tables of docs/configuration.md, which holds them between these lines.
std::string config_reference_markdown();
inline constexpr const char* kReferenceBegin = "<!-- made by `nl-stage plan --keys --markdown` -->\n";
inline constexpr const char* kReferenceEnd = "<!-- end -->\n";

}  // namespace nl::orchestrator
