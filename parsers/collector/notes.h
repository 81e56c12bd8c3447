#pragma once

#include <cstdint>
#include <string>

#include "model/codes.h"

namespace nl::parsers::collector_trace {

// What a note of the collector means. `id`: its NoteCode; without one (an earlier collector) its words decide, here only.
Remark remark_of_note(std::uint32_t id, std::string text);

}  // namespace nl::parsers::collector_trace
