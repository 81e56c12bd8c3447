#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/bundle/packed_text.h"

// The JSON Schemas of all that nl-stage writes and prints, as schema/ has them. They are inside the program.
namespace nl::orchestrator {

extern const std::span<const PackedText> kPackedSchemas;  // sorted; made from schema/ by tools/embed

std::vector<std::string> schema_names();  // "run", "ls"; sorted
bool has_schema(std::string_view name);
std::string schema_named(std::string_view name);      // Error(kUsage) with the nearest name where there is none
std::string schema_title(const std::string& schema);  // "run.json of nl-stage"

// The schema of what a verb prints with --json: "ls", "fingerprint search"; empty: there is none.
std::string schema_of_verb(std::string_view verb);

// Throws Error(kInput) with the JSON pointer of the first fault.
void validate_by_schema(std::string_view name, std::string_view text, const std::string& where);

}  // namespace nl::orchestrator
