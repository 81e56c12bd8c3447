#pragma once

#include "model/error.h"
#include "parsers/file_head.h"
#include "parsers/json/array_file.h"

namespace nl::parsers {

inline constexpr int kEventsLookedAt = 1000;  // names of processes and threads may come first

// Whether one of the first events of the array is one of the format's own.
template <typename Reader, typename Event, typename IsOwn>
bool any_event(const FileHead& head, const char* member, IsOwn is_own) {
  try {
    JsonArrayFile file(head.path, member);
    Reader reader;
    Event event;
    for (int i = 0; i < kEventsLookedAt && file.next(); ++i)
      if (reader.read(file, event) && is_own(event)) return true;
  } catch (const Error&) {  // no JSON, or no such array
  }
  return false;
}

}  // namespace nl::parsers
