#pragma once

#include "collector/gpu/cupti_library.h"

namespace nl::collector {

// Counters of chosen kernels, launch by launch: one set of metrics in a single pass, as the kernel runs anyway, and a
// second one for which CUPTI replays it. Nothing but the chosen launches is touched.
// Reads from the environment what to measure. Where nothing can be measured it returns false and says why.
bool count_kernels(const CuptiLibrary& library);

// The names of the driver's functions that launch a kernel.
bool is_kernel_launch(const char* function);

// CUPTI's callback calls it before and after one of these functions.
void around_launch(const cupti::CallbackData& call);

void finish_kernel_counters();                  // at the program's end
void forget_kernel_counters_of(void* context);  // it is being destroyed

// Counters of the stages: those of the GPU from the begin of a stage's range to the end of all work in it, in one pass
// and without replay. Kernels still run beside each other; the GPU is drained at both ends of a range.
// Reads what is asked for from the environment and listens to the ranges from then on.
void count_stages(const CuptiLibrary& library);

// Writes what was measured, an open stage included, and measures no more: at the program's end.
void finish_stage_counters();
void rescue_stage_counters();                  // the same, before a cudaDeviceReset; then it may go on
void forget_stage_counters_of(void* context);  // it is being destroyed

}  // namespace nl::collector
