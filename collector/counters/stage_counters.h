#pragma once

#include "collector/gpu/cupti_library.h"

// Counters of the stages: those of the GPU from the begin of a stage's range to the end of all work in it, in one pass
// and without replay. Kernels run beside each other as ever; the GPU is drained at both ends of a range.
namespace nl::collector {

// Reads what is asked for from the environment and listens to the ranges from then on.
void count_stages(const CuptiLibrary& library);

// Writes what was measured, an open stage included, and measures no more: at the program's end.
void finish_stage_counters();
void rescue_stage_counters();                  // the same, before a cudaDeviceReset; then it may go on
void forget_stage_counters_of(void* context);  // it is being destroyed

}  // namespace nl::collector
