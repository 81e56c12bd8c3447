#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace nl::orchestrator {

// "workload.env={…}", as --set takes it: JSON is YAML.
inline std::string setting(const std::string& key, const nlohmann::json& value) {
  return key + "=" + value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace nl::orchestrator
