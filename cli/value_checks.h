#pragma once

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/manual/number_limits.h"

// Checks of numbers on the command line. --help and the fix for a wrong number use the same words.
namespace nl::cli {

template <class Number>
CLI::Validator between(Number least, Number most) {
  return CLI::Range(least, most).description(fmt::format("{} from {} to {}", kNumberWords<Number>, least, most));
}

template <class Number>
CLI::Validator above_zero() {
  return CLI::PositiveNumber.description(fmt::format("{} above 0", kNumberWords<Number>));
}

inline CLI::Validator not_negative() { return CLI::NonNegativeNumber.description("a number from 0"); }

}  // namespace nl::cli
