#pragma once

#include "collector/gpu/cupti_library.h"

// Where the warps of kernels wait: their program counters, sampled by the hardware (CUPTI's PC sampling, continuous, so
// that kernels run beside each other as ever). A launch takes 1 to 10 µs longer: only where it is asked for.
namespace nl::collector {

void sample_stalls(const CuptiLibrary& library);
bool stalls_are_sampled();

// From CUPTI's callback: sampling begins with the context.
void sample_stalls_of(void* context, std::uint32_t device);

void write_stalls();                   // what was sampled so far; from a thread of ours
void finish_stall_samples();           // at the program's end
void rescue_stall_samples();           // before a cudaDeviceReset; new contexts are sampled again
void forget_stalls_of(void* context);  // it is being destroyed

}  // namespace nl::collector
