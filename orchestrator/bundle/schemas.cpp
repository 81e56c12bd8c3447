#include "orchestrator/bundle/schemas.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "model/error_code.h"
#include "model/input_bounds.h"
#include "orchestrator/config/nearest.h"

namespace nl::orchestrator {
namespace {

constexpr std::string_view kSchemaSuffix = ".schema.json";

// Verbs whose output has a name of its own. The others have that of the verb.
const std::map<std::string_view, std::string_view> kOtherNames = {
    {"run", "answer"}, {"profile", "answer"}, {"import", "answer"}, {"show", "answer"}, {"try", "trial"}};

std::string_view schema_name(const PackedText& schema) { return schema.file.substr(0, schema.file.size() - kSchemaSuffix.size()); }

const PackedText* find_schema(std::string_view name) {
  const auto found =
      std::find_if(kPackedSchemas.begin(), kPackedSchemas.end(), [name](const auto& each) { return schema_name(each) == name; });
  return found == kPackedSchemas.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> schema_names() {
  std::vector<std::string> names;
  for (const PackedText& schema : kPackedSchemas) names.emplace_back(schema_name(schema));
  std::sort(names.begin(), names.end());  // "fingerprint-search.schema.json" stands before "fingerprint.schema.json"
  return names;
}

bool has_schema(std::string_view name) { return find_schema(name) != nullptr; }

std::string schema_named(std::string_view name) {
  if (const PackedText* schema = find_schema(name)) return unpacked(*schema);
  const std::string near = nearest_name(name, schema_names());
  throw CodedError(ErrorCode::kUnknownSchema, fmt::format("unknown schema '{}'", name), "schema",
                   near.empty() ? "`nl-stage schema` lists them" : fmt::format("did you mean '{}'?", near));
}

std::string schema_title(const std::string& schema) {
  return nlohmann::json::parse(json_within_bounds(schema, "schema")).value("title", "");
}

std::string schema_of_verb(std::string_view verb) {
  const auto other = kOtherNames.find(verb);
  std::string name(other == kOtherNames.end() ? verb : other->second);
  std::replace(name.begin(), name.end(), ' ', '-');
  return has_schema(name) ? name : "";
}

}  // namespace nl::orchestrator
