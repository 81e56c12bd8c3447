#include "parsers/flight_recorder/values.h"

#include <utility>

#include "model/input_bounds.h"

namespace nl::parsers {

Values::Values(std::string where) : where_(std::move(where)) {
  values_.push_back({});
  values_.push_back({.kind = ValueKind::kBool, .integer = 1});
  values_.push_back({.kind = ValueKind::kBool, .integer = 0});
}

ValueId Values::add(const Value& value) {
  if (values_.size() >= kJsonBounds.values)
    refuse_out_of_bounds(ErrorKind::kInput, "the dump holds more than " + std::to_string(kJsonBounds.values) + " values", where_);
  values_.push_back(value);
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId Values::add_container(ValueKind kind, std::vector<ValueId> parts) {
  const ValueId id = add({.kind = kind, .parts = static_cast<std::uint32_t>(parts_.size())});
  parts_.push_back(std::move(parts));
  return id;
}

std::span<const ValueId> Values::parts(ValueId id) const {
  if (values_[id].kind < ValueKind::kList) return {};
  return parts_[values_[id].parts];
}

std::optional<ValueId> Values::member(ValueId dict, std::string_view key) const {
  if (values_[dict].kind != ValueKind::kDict) return std::nullopt;
  const std::span<const ValueId> both = parts(dict);
  for (std::size_t i = both.size(); i >= 2; i -= 2)
    if (values_[both[i - 2]].kind == ValueKind::kText && values_[both[i - 2]].text == key) return both[i - 1];
  return std::nullopt;
}

std::string_view Values::text(ValueId id) const { return values_[id].kind == ValueKind::kText ? values_[id].text : std::string_view(); }

std::string_view Values::text_member(ValueId dict, std::string_view key) const {
  const std::optional<ValueId> found = member(dict, key);
  return found ? text(*found) : std::string_view();
}

std::optional<std::int64_t> Values::integer_member(ValueId dict, std::string_view key) const {
  const std::optional<ValueId> found = member(dict, key);
  if (!found || values_[*found].kind != ValueKind::kInt) return std::nullopt;
  return values_[*found].integer;
}

}  // namespace nl::parsers
