#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The values of a dump, as a pickle or JSON has them. They lie side by side and name each other by number: a value may be a part of
// several others or of itself, and nesting of any depth costs no stack.
namespace nl::parsers {

using ValueId = std::uint32_t;

enum class ValueKind : std::uint8_t { kNone, kBool, kInt, kBigInt, kFloat, kText, kBytes, kList, kTuple, kDict };

struct Value {
  ValueKind kind = ValueKind::kNone;
  std::int64_t integer = 0;  // of kBool too
  double real = 0;
  std::string_view text = {};  // of kBigInt its bytes: two's complement, the lowest first
  std::uint32_t parts = 0;
};

class Values {
 public:
  static constexpr ValueId kNone = 0, kTrue = 1, kFalse = 2;

  explicit Values(std::string where);  // `where` names the file in errors

  // Each throws Error(kInput) where there are more than a real dump has.
  ValueId add(const Value& value);
  ValueId add_container(ValueKind kind, std::vector<ValueId> parts = {});

  const Value& operator[](ValueId id) const { return values_[id]; }
  std::vector<ValueId>& parts(ValueId id) { return parts_[values_[id].parts]; }
  std::span<const ValueId> parts(ValueId id) const;  // of a dict key, value, key, value …; none of what is no container

  // Of a dict; the later one of two that are equal, as Python has it.
  std::optional<ValueId> member(ValueId dict, std::string_view key) const;
  std::string_view text(ValueId id) const;  // empty: it is no text
  std::string_view text_member(ValueId dict, std::string_view key) const;
  std::optional<std::int64_t> integer_member(ValueId dict, std::string_view key) const;

  std::string_view keep(std::string text) { return kept_.emplace_back(std::move(text)); }

 private:
  std::string where_;
  std::vector<Value> values_;
  std::vector<std::vector<ValueId>> parts_;
  std::deque<std::string> kept_;
};

}  // namespace nl::parsers
