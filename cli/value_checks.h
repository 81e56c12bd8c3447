#pragma once

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <concepts>
#include <optional>
#include <string>

// Checks of numbers on the command line. --help and the fix for a wrong number use the same words.
namespace nl::cli {

template <class Number>
constexpr const char* kNumberWords = std::integral<Number> ? "a whole number" : "a number";

template <class Number>
CLI::Validator between(Number least, Number most) {
  return CLI::Range(least, most).description(fmt::format("{} from {} to {}", kNumberWords<Number>, least, most));
}

template <class Number>
CLI::Validator above_zero() {
  return CLI::PositiveNumber.description(fmt::format("{} above 0", kNumberWords<Number>));
}

inline CLI::Validator not_negative() { return CLI::NonNegativeNumber.description("a number from 0"); }

// What these words say, read back: CLI11 keeps nothing else of a check.
struct NumberLimits {
  std::optional<double> least, most;
  bool above_least = false;  // least itself is too small
};

inline NumberLimits limits_in(const std::string& words) {
  const auto behind = [&words](const char* word) -> std::optional<double> {
    const std::size_t at = words.find(word);
    return at == std::string::npos ? std::nullopt : std::optional(std::stod(words.substr(at + std::char_traits<char>::length(word))));
  };
  const std::optional<double> above = behind(" above ");
  return {above ? above : behind(" from "), behind(" to "), above.has_value()};
}

}  // namespace nl::cli
