#pragma once

#include <string>
#include <string_view>

#include "parsers/flight_recorder/values.h"

namespace nl::parsers {

struct JsonDocument {
  Values values;
  ValueId root = Values::kNone;
};

// The same values as a pickle has, out of JSON. Throws Error(kInput) that names the byte.
JsonDocument read_json_values(std::string_view text, const std::string& where);

}  // namespace nl::parsers
