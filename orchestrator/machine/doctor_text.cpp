#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "orchestrator/machine/doctor.h"

namespace nl::orchestrator {

std::string describe_checks(const std::vector<Check>& checks, bool colour) {
  std::size_t width = 0;
  for (const auto& check : checks) width = std::max(width, check.subject.size());
  std::string text;
  for (const auto& check : checks) {
    const char* shade = check.level == CheckLevel::kOk        ? "\033[32m"
                        : check.level == CheckLevel::kWarning ? "\033[33m"
                                                              : "\033[31m";
    text += fmt::format("{}{:<7}{}  {:<{}}  {}\n", colour ? shade : "", level_name(check.level),
                        colour ? "\033[0m" : "", check.subject, width, check.finding);
    if (!check.fix.empty()) text += fmt::format("{:9}{:<{}}  fix: {}\n", "", "", width, check.fix);
  }
  return text;
}

std::string checks_json(const std::vector<Check>& checks) {
  nlohmann::ordered_json json = {{"blocked", any_blocked(checks)}, {"checks", nlohmann::ordered_json::array()}};
  for (const auto& check : checks)
    json["checks"].push_back({{"id", check.id},
                              {"level", level_name(check.level)},
                              {"subject", check.subject},
                              {"finding", check.finding},
                              {"fix", check.fix}});
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nl::orchestrator
