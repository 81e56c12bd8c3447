#pragma once

#include <cstdint>
#include <string>

#include "model/trace.h"

namespace nl {

// "rank 2"; empty: the process is of no rank, or ranks were only counted.
std::string rank_title(const Trace& trace, std::uint32_t process);

// "rank 2", or "process 4504" where its rank is not told.
std::string rank_or_process(const Trace& trace, std::uint32_t process);

}  // namespace nl
