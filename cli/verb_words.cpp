#include "cli/verb_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/workload_words.h"
#include "model/error.h"
#include "model/shell.h"
#include "orchestrator/config/nearest.h"
#include "servers/confine.h"

namespace nl::cli {
namespace {

using nlohmann::json;

const char* wanted(const FlagFacts& facts) {
  switch (facts.type) {
    case ValueType::kBoolean: return "true or false";
    case ValueType::kInteger: return "a whole number";
    case ValueType::kNumber: return "a number";
    default: return "a text";
  }
}

[[noreturn]] void refuse(const ToolArgument& argument, const char* is) {
  const bool list = argument.facts.many || argument.facts.type == ValueType::kCommand;
  throw Error(ErrorKind::kUsage, fmt::format("{} {}", argument.name, is), argument.name,
              fmt::format("give {}{}", list ? "a list, each element " : "", wanted(argument.facts)));
}

// Models write numbers as texts and texts as numbers: either is taken, and the verb judges the value.
std::string text_of(const ToolArgument& argument, const json& value) {
  if (value.is_number()) return value.dump();
  if (!value.is_string()) refuse(argument, "is neither a text nor a number");
  std::string text = value.get<std::string>();
  if (text.empty() && !argument.facts.positional) refuse(argument, "is empty");
  if (text.find('\0') != std::string::npos) refuse(argument, "has a character of value 0");
  return text;
}

std::vector<std::string> texts_of(const ToolArgument& argument, const json& value) {
  if (!value.is_array()) return {text_of(argument, value)};
  std::vector<std::string> texts;
  for (const json& element : value) texts.push_back(text_of(argument, element));
  return texts;
}

std::vector<std::string> values_of(const ToolArgument& argument, const json& value, const std::filesystem::path& root) {
  const bool list = argument.facts.many || argument.facts.type == ValueType::kCommand;
  if (value.is_array() && !list) refuse(argument, "is a list");
  std::vector<std::string> texts = texts_of(argument, value);
  if (argument.is_place)
    for (const std::string& text : texts) servers::within_root(root, text);
  // A command that is the value of a flag is one word, which a shell splits again.
  if (argument.facts.type == ValueType::kCommand && !argument.facts.positional) return {shell_quoted(texts)};
  return texts;
}

void refuse_unknown(const std::vector<ToolArgument>& arguments, const json& given) {
  std::vector<std::string> names;
  for (const ToolArgument& argument : arguments) names.push_back(argument.name);
  for (const auto& [name, value] : given.items())
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Error(ErrorKind::kUsage, fmt::format("there is no argument '{}'", name), "arguments",
                  orchestrator::nearest_or_all(name, names));
}

void add_flag(const ToolArgument& argument, const json& value, const std::filesystem::path& root, std::vector<std::string>& words) {
  const std::string& flag = argument.facts.names.back();
  if (argument.facts.type == ValueType::kBoolean) {
    if (!value.is_boolean()) refuse(argument, "is neither true nor false");
    if (value.get<bool>()) words.push_back(flag);
    return;
  }
  for (const std::string& text : values_of(argument, value, root)) words.push_back(flag + "=" + text);
}

}  // namespace

std::vector<std::string> words_of(const ToolRow& row, const std::vector<ToolArgument>& arguments, const json& given,
                                  const std::filesystem::path& root) {
  refuse_unknown(arguments, given);
  std::vector<std::string> words = {std::string(row.verb), "--json"}, behind;
  for (const ToolArgument& argument : arguments) {
    const auto value = given.find(argument.name);
    if (value == given.end() || value->is_null()) continue;
    if (!argument.facts.positional) add_flag(argument, *value, root, words);
    else
      for (std::string& text : values_of(argument, *value, root)) behind.push_back(std::move(text));
  }
  if (behind.empty()) return words;
  words.emplace_back(kEndOfFlags);  // what looks like a flag is none
  words.insert(words.end(), behind.begin(), behind.end());
  return words;
}

}  // namespace nl::cli
