#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nl::analysis::rules {

enum class Type : std::uint8_t { kNumber, kTruth, kText };

// What an expression comes to. Not known: something it depends on was not captured, or it has no value
// (a division by zero, the mean of nothing).
struct Value {
  bool known = false;
  bool captured = false;
  bool truth = false;
  double number = 0;
  std::string_view text;  // of the run or of the expression: valid as long as both are

  static Value not_captured() { return {}; }
  static Value none() { return {false, true, false, 0, {}}; }
  static Value of(double value) { return std::isfinite(value) ? Value{true, true, false, value, {}} : none(); }
  static Value of_truth(bool value) { return {true, true, value, 0, {}}; }
  static Value of_text(std::string_view value) { return {true, true, false, 0, value}; }
  template <class T>
  static Value of(const std::optional<T>& value) {
    return value ? of(static_cast<double>(*value)) : not_captured();
  }
};

}  // namespace nl::analysis::rules
