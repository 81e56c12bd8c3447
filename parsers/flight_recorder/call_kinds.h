#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/flight_dump.h"

// Names of calls, as PyTorch's process groups record them.
namespace nl::parsers {

// "nccl:all_reduce" → "all_reduce": the library is one for all of a group.
std::string_view without_library(std::string_view name);

CallRule call_rule(std::string_view kind);

// "send 0->1" and "recv 0<-1": 1.
std::optional<std::uint32_t> peer_place(std::string_view kind);

// A call that stands for those before it, which were called as one batch.
bool is_batch(std::string_view kind);

}  // namespace nl::parsers
