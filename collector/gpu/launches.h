#pragma once

#include <cstdint>

#include "collector/gpu/cupti_profiler_api.h"

// When each kernel and each CUDA graph is launched, and nothing else: how fast a program is that hardly knows it is watched. A launch
// costs two callbacks of CUPTI, one reading of the clock and 16 bytes. CUPTI's records of kernels and calls are not switched on.
namespace nl::collector {

// Whether the driver's function of this number launches; remembered, because its calls come with the number.
bool expect_launches(std::uint32_t function, const char* name);

// Called when such a function is entered.
void time_launch(std::uint32_t function, const cupti::CallbackData& call);

}  // namespace nl::collector
