#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "orchestrator/config/keys.h"

namespace nl::orchestrator {
namespace {

// What stands between a section's heading and its table.
const std::map<std::string_view, std::string_view> kIntroductions = {
    {"capture", "[collector.md](collector.md) describes the collector.\n\n"},
    {"perturbation", "[perturbation.md](perturbation.md) describes overhead and energy.\n\n"},
    {"model",
     "What the model is and what it was given: the base of FLOPs, bytes, MFU and MBU ([efficiency.md](efficiency.md)). What is\n"
     "left out stays unknown. `--model` takes a file with this section, the name of a shipped one, or a Hugging Face\n"
     "`config.json` (or its folder).\n\n"},
};

// The value that a key has where nothing sets it, as YAML.
struct DefaultText {
  Config& config;

  template <class Value>
  std::string operator()(Value& (*member)(Config&)) const {
    return fmt::format("{}", member(config));
  }
  std::string operator()(std::vector<std::string>& (*member)(Config&)) const {
    return member(config).empty() ? "" : fmt::format("[{}]", fmt::join(member(config), ", "));
  }
  std::string operator()(std::map<std::string, std::string>& (*)(Config&)) const { return ""; }
  std::string operator()(ModelAttribute) const { return ""; }
};

std::string default_of(const ConfigKey& key) {
  Config config;
  return std::visit(DefaultText{config}, key.member);
}

// " from 1 to 1000"; nothing where the bounds only keep nonsense out.
std::string range_of(const ConfigKey& key) {
  constexpr double kNoBound = 1e15;
  if (std::isinf(key.least)) return "";
  if (key.most >= kNoBound) return fmt::format(" from {}", key.least);
  return fmt::format(" from {} to {:.15g}", key.least, key.most);
}

std::string_view section_of(const ConfigKey& key) { return key.path.substr(0, key.path.find('.')); }

std::string code(std::string_view text) { return text.empty() ? "" : fmt::format("`{}`", text); }

std::string values_of(const ConfigKey& key) {
  std::vector<std::string> words;
  for (const auto& word : key.allowed) words.push_back(code(word));
  if (key.allowed.empty()) return fmt::format("{}{}", config_type_name(key), range_of(key));
  const bool list = std::holds_alternative<std::vector<std::string>& (*)(Config&)>(key.member);
  return fmt::format("{}{}", list ? "a list of " : "", fmt::join(words, ", "));
}

}  // namespace

std::string config_keys_text() {
  std::string text;
  for (const auto& key : config_keys()) {
    text += fmt::format("{:<28} {}\n{:<28} {}{}", key.path, key.help, "", config_type_name(key), range_of(key));
    if (!key.allowed.empty()) text += fmt::format(": {}", fmt::join(key.allowed, ", "));
    if (const std::string value = default_of(key); !value.empty()) text += fmt::format("; default: {}", value);
    text += "\n";
  }
  return text;
}

std::string config_keys_json() {
  const auto number_or_null = [](double bound) { return std::isinf(bound) ? nlohmann::ordered_json() : nlohmann::ordered_json(bound); };
  auto keys = nlohmann::ordered_json::array();
  for (const auto& key : config_keys()) {
    const std::string value = default_of(key);
    keys.push_back({{"key", key.path},
                    {"help", key.help},
                    {"type", config_type_name(key)},
                    {"allowed", key.allowed},
                    {"least", number_or_null(key.least)},
                    {"most", number_or_null(key.most)},
                    {"default", value.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(value)}});
  }
  return nlohmann::ordered_json{{"keys", keys}}.dump(2) + "\n";
}

std::string config_reference_markdown() {
  std::string text;
  std::string_view section;
  for (const auto& key : config_keys()) {
    if (section_of(key) != section) {
      section = section_of(key);
      const auto introduction = kIntroductions.find(section);
      text += fmt::format("{}### {}\n\n{}| key | values | default | what it does |\n| --- | --- | --- | --- |\n", text.empty() ? "" : "\n",
                          section, introduction == kIntroductions.end() ? "" : introduction->second);
    }
    text += fmt::format("| `{}` | {} | {} | {} |\n", key.path, values_of(key), code(default_of(key)), key.help);
  }
  return text;
}

}  // namespace nl::orchestrator
