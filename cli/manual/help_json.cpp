#include "cli/manual/help_json.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "orchestrator/bundle/schemas.h"

namespace nl::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kJsonName = "json";
constexpr std::size_t kMostKnown = 100;  // more are for a shell alone

Json value_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

// "20" is a number where the type is one.
Json default_json(const FlagFacts& argument) {
  if (argument.type == ValueType::kBoolean) return false;
  const std::string& text = argument.default_value;
  const bool is_number = argument.type == ValueType::kInteger || argument.type == ValueType::kNumber;
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (!is_number || text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return value_or_null(text);
  return argument.type == ValueType::kInteger ? Json(static_cast<std::int64_t>(number)) : Json(number);
}

Json limits_json(const FlagFacts& argument) {
  if (!argument.least && !argument.most) return Json();
  Json limits;
  if (argument.least) limits[argument.above_least ? "above" : "least"] = *argument.least;
  if (argument.most) limits["most"] = *argument.most;
  return limits;
}

Json arity_json(const FlagFacts& argument) {
  return {{"min", argument.least_values}, {"max", argument.most_values == kAnyNumber ? Json() : Json(argument.most_values)}};
}

Json text_json(const VerbReference& verb) {
  auto texts = Json::array();
  for (const Block& block : verb.description) texts.push_back(block.text);
  return texts;
}

Json examples_json(const VerbReference& verb) {
  auto examples = Json::array();
  std::istringstream lines(verb.examples);
  for (std::string line; std::getline(lines, line);) examples.push_back(line);
  return examples;
}

Json arguments_json(const std::vector<FlagFacts>& arguments) {
  auto all = Json::array();
  for (const FlagFacts& argument : arguments) all.push_back(argument_json(argument));
  return all;
}

}  // namespace

Json argument_json(const FlagFacts& argument) {
  Json json;
  json["name"] = argument.name;
  json["names"] = argument.names;
  json["description"] = argument.help;
  json["type"] = key_of(argument.type);
  json["value"] = value_or_null(argument.value_name);
  json["enum"] = argument.choices.empty() ? Json() : Json(argument.choices);
  const bool some_known = argument.choices.empty() && !argument.words.empty() && argument.words.size() <= kMostKnown;
  json["known"] = some_known ? Json(argument.words) : Json();
  json["limits"] = limits_json(argument);
  json["default"] = default_json(argument);
  json["required"] = argument.required;
  json["arity"] = arity_json(argument);
  json["repeatable"] = argument.repeatable;
  json["separator"] = argument.separator == '\0' ? Json() : Json(std::string(1, argument.separator));
  json["excludes"] = argument.excludes;
  json["needs"] = argument.needs;
  return json;
}

Json help_json(const VerbReference& verb) {
  Json json;
  json["name"] = verb.name.empty() ? command_name(verb) : short_name(verb);
  json["command"] = command_name(verb);
  json["description"] = verb.summary;
  json["usage"] = usage_line(verb);
  json["text"] = text_json(verb);
  json["prints_json"] = std::any_of(verb.flags.begin(), verb.flags.end(), [](const FlagFacts& flag) { return flag.name == kJsonName; });
  json["schema"] = value_or_null(verb.name.empty() ? "" : orchestrator::schema_of_verb(verb.name));
  json["positionals"] = arguments_json(verb.positionals);
  json["flags"] = arguments_json(verb.flags);
  json["verbs"] = Json::array();
  for (const VerbReference& below : verb.verbs)
    json["verbs"].push_back(
        {{"name", short_name(below)}, {"group", verb.name.empty() ? Json(below.group) : Json()}, {"description", below.summary}});
  json["examples"] = examples_json(verb);
  return json;
}

}  // namespace nl::cli
