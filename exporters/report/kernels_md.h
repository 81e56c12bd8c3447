#pragma once

#include <string>

#include "model/run.h"

namespace nl::exporters {

// The first five columns are for scripts and stay as they are: kernel_name, total_ms, calls, mean_ms,
// device, as plain numbers with a decimal point. In names only `|` and a `<` that would open a tag are
// escaped; a name that was shortened ends in [n], the number under which it is listed in full.
std::string kernels_markdown(const Run& run);

}  // namespace nl::exporters
