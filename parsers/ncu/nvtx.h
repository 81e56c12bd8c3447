#pragma once

#include <string_view>
#include <vector>

#include "model/ncu.h"

namespace nl::parsers {

// The ranges in ncu's NVTX columns: push/pop ones of the launching thread, or start/end ones of the
// process. ncu lists them domain by domain, outermost first within a domain.
void read_ncu_ranges(std::string_view cell, RangeStyle style, std::vector<NcuRange>& out);

}  // namespace nl::parsers
