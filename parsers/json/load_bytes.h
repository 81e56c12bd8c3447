#pragma once

#include <cstring>

namespace nl::parsers {

// A value as it lies in a file, wherever that may be: no alignment is assumed.
template <typename Value>
Value load(const char* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace nl::parsers
