#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parsers/hf/config.h"

namespace nl::parsers {

// Fields of one object of a config.json. The same thing has other names in other families: the first that is
// there and is a sensible value counts; null is the same as not there.
class HfFields {
 public:
  HfFields(const nlohmann::json& object, std::vector<std::string>& notes) : object_(object), notes_(notes) {}

  std::optional<long long> whole(std::initializer_list<const char*> names) const;
  std::optional<double> number(const char* name) const;
  std::optional<bool> truth(const char* name) const;
  std::string text(const char* name) const;
  const nlohmann::json* object(const char* name) const;  // null where it is not an object
  const nlohmann::json* list(const char* name) const;

 private:
  const nlohmann::json& object_;
  std::vector<std::string>& notes_;
};

// The vision tower and its projector, where the file has a vision_config.
void map_hf_vision(const HfFields& root, const HfFields& text, HfConfig& out);

}  // namespace nl::parsers
