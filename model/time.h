#pragma once

#include <cstdint>

namespace nl {

using Ns = std::int64_t;  // nanoseconds, of a duration or since the start of the capture

}  // namespace nl
