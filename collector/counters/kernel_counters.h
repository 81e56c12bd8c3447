#pragma once

#include <cstdint>

#include "collector/gpu/cupti_library.h"

// Counters of chosen kernels, launch by launch: one set of metrics in a single pass, as the kernel runs anyway, and a
// second one for which CUPTI replays it. Nothing but the chosen launches is touched.
namespace nl::collector {

// Reads what is asked for from the environment; false, and said, where nothing can be measured.
bool count_kernels(const CuptiLibrary& library);

// The names of the driver's functions that launch a kernel.
bool is_kernel_launch(const char* function);

// From CUPTI's callback around one of them.
void around_launch(const cupti::CallbackData& call);

void finish_kernel_counters();                  // at the program's end
void forget_kernel_counters_of(void* context);  // it is being destroyed

}  // namespace nl::collector
