#include "parsers/hf/fields.h"

#include <fmt/format.h>

#include <cmath>

namespace nl::parsers {
namespace {

using nlohmann::json;

constexpr double kLargest = 1e12;  // no size of a model comes near

const json* field(const json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string shown(const json& value) { return value.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 40); }

}  // namespace

std::optional<long long> HfFields::whole(std::initializer_list<const char*> names) const {
  for (const char* name : names) {
    const json* value = field(object_, name);
    if (!value || value->is_array()) continue;
    const double number = value->is_number() ? value->get<double>() : -1;
    if (number >= 0 && number <= kLargest && number == std::floor(number)) return static_cast<long long>(number);
    notes_.push_back(fmt::format("{} is {}, which is no size: left out", name, shown(*value)));
  }
  return std::nullopt;
}

std::optional<double> HfFields::number(const char* name) const {
  const json* value = field(object_, name);
  return value && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
}

std::optional<bool> HfFields::truth(const char* name) const {
  const json* value = field(object_, name);
  return value && value->is_boolean() ? std::optional(value->get<bool>()) : std::nullopt;
}

std::string HfFields::text(const char* name) const {
  const json* value = field(object_, name);
  return value && value->is_string() ? value->get<std::string>() : "";
}

const json* HfFields::object(const char* name) const {
  const json* value = field(object_, name);
  return value && value->is_object() ? value : nullptr;
}

const json* HfFields::list(const char* name) const {
  const json* value = field(object_, name);
  return value && value->is_array() ? value : nullptr;
}

}  // namespace nl::parsers
