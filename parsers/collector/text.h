#pragma once

#include <cstring>
#include <optional>
#include <string>

#include "collector/trace_format.h"
#include "parsers/collector/metrics.h"

namespace nl::parsers::collector_trace {

// A value as it lies in a file, wherever that may be: no alignment is assumed.
template <typename Value>
Value load(const char* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// The text of a String record; nothing, and counted, where that is not all there.
inline std::optional<std::string> read_text(const char* at, const trace_format::Head& head, Damage& damage) {
  auto record = load<trace_format::String>(at);
  if (record.length <= head.bytes - sizeof record) return std::string(at + sizeof record, record.length);
  ++damage[{Code::kStringTooLong}];
  return std::nullopt;
}

}  // namespace nl::parsers::collector_trace
