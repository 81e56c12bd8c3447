#include <charconv>

#include "cli/tools/table.h"

namespace nl::cli {
namespace {

using nlohmann::ordered_json;

const char* json_type(const FlagFacts& facts) {
  switch (facts.type) {
    case ValueType::kBoolean: return "boolean";
    case ValueType::kInteger: return "integer";
    case ValueType::kNumber: return "number";
    default: return "string";
  }
}

// As a number where it is one: the schema of a number has no limits that are texts.
ordered_json number_or_text(const FlagFacts& facts) {
  const std::string& text = facts.default_value;
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || facts.type == ValueType::kString) return text;
  return facts.type == ValueType::kInteger ? ordered_json(static_cast<std::int64_t>(number)) : ordered_json(number);
}

ordered_json whole_if(bool whole, double number) { return whole ? ordered_json(static_cast<std::int64_t>(number)) : ordered_json(number); }

ordered_json value_schema(const FlagFacts& facts) {
  ordered_json schema = {{"type", json_type(facts)}};
  if (!facts.choices.empty()) schema["enum"] = facts.choices;
  const bool whole = facts.type == ValueType::kInteger;
  if (facts.least) schema[facts.above_least ? "exclusiveMinimum" : "minimum"] = whole_if(whole, *facts.least);
  if (facts.most) schema["maximum"] = whole_if(whole, *facts.most);
  return schema;
}

// "STAGE: the launches of this stage become CUDA graphs": what a value looks like, where its type does not say it.
std::string described(const FlagFacts& facts) {
  std::string help = facts.help;
  for (const char* of_the_command_line : {"; repeatable", "; default: $NL_STAGE_LEDGER, or the user's own", ", or after --"})
    if (const std::size_t at = help.find(of_the_command_line); at != std::string::npos)
      help.erase(at, std::string(of_the_command_line).size());
  const bool shown = facts.value_name.find_first_of("=|:") != std::string::npos || facts.type == ValueType::kDuration;
  return shown ? facts.value_name + ": " + help : help;
}

}  // namespace

ordered_json input_schema(const std::vector<ToolArgument>& arguments) {
  ordered_json properties = ordered_json::object(), required = ordered_json::array();
  for (const ToolArgument& argument : arguments) {
    const FlagFacts& facts = argument.facts;
    const bool list = facts.many || facts.type == ValueType::kCommand;
    ordered_json schema = list ? ordered_json{{"type", "array"}, {"items", value_schema(facts)}} : value_schema(facts);
    schema["description"] = described(facts);
    if (!list && !facts.default_value.empty()) schema["default"] = number_or_text(facts);
    properties[argument.name] = std::move(schema);
    if (facts.required) required.push_back(argument.name);
  }
  ordered_json schema = {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

}  // namespace nl::cli
