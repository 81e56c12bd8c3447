#pragma once

#include <concepts>
#include <optional>
#include <string>

// The words in which --help and errors say what a number may be.
namespace nl::cli {

template <class Number>
constexpr const char* kNumberWords = std::integral<Number> ? "a whole number" : "a number";

// What such words say: "a whole number from 1 to 100", "a number above 0". CLI11 keeps nothing else of a check.
struct NumberLimits {
  std::optional<double> least, most;
  bool above_least = false;  // least itself is too small
};
NumberLimits limits_in(const std::string& words);

}  // namespace nl::cli
