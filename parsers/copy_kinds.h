#pragma once

#include <cstdint>
#include <string>

#include "model/trace.h"

namespace nl::parsers {

// CUPTI's numbers of the directions of a copy, which nsys' tables and the collector's files use.
MemOpKind copy_kind(std::int64_t number);
// "[CUDA memcpy Host-to-Device]", as nsys names it.
std::string copy_label(std::int64_t number);

}  // namespace nl::parsers
