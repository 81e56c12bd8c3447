#include <nlohmann/json.hpp>

#include "orchestrator/doctor/doctor.h"

namespace nl::orchestrator {

std::string checks_json(const std::vector<Check>& checks) {
  nlohmann::ordered_json json = {{"blocked", any_blocked(checks)}, {"checks", nlohmann::ordered_json::array()}};
  for (const auto& check : checks)
    json["checks"].push_back(
        {{"id", check.id}, {"level", level_name(check.level)}, {"subject", check.subject}, {"finding", check.finding}, {"fix", check.fix}});
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nl::orchestrator
