#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/time.h"

namespace nl::parsers {

// A JSON number as it stands in the text, in µs, as nanoseconds: to the digit, where a double has lost the
// last ones (3844436102910.259 µs has 16 of them). Beyond that it is rounded, halves away from zero.
std::optional<Ns> micros_to_ns(std::string_view number);
// A whole number, quoted or not: ONNX Runtime quotes the ones in "args".
std::optional<std::int64_t> whole_number(std::string_view token);

}  // namespace nl::parsers
