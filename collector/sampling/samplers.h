#pragma once

#include <cstdint>

#include "collector/gpu/cupti_library.h"

namespace nl::collector {

// Where the warps of kernels wait: their program counters, sampled by the hardware (CUPTI's PC sampling, continuous, so
// that kernels still run beside each other). A launch takes 1 to 10 µs longer, so this is done only on request.
void sample_stalls(const CuptiLibrary& library);
bool stalls_are_sampled();

// CUPTI's callback calls it: sampling begins with the context.
void sample_stalls_of(void* context, std::uint32_t device);

void write_stalls();                   // what was sampled so far; from a thread of ours
void finish_stall_samples();           // at the program's end
void rescue_stall_samples();           // before a cudaDeviceReset; new contexts are sampled again
void forget_stalls_of(void* context);  // it is being destroyed

// What the GPU's units do, sampled by the hardware at regular intervals while the program runs (CUPTI's PM sampling):
// a thread of ours takes the samples off the GPU and writes them to the trace. The program's launches are left alone.
// Reads from the environment what to sample; starts nothing where nothing is asked for.
void sample_activity(const CuptiLibrary& library);

// CUPTI's callback calls it: sampling of a device begins with its first context. It takes some tenths of a second.
void sample_activity_of(std::uint32_t device);

// Writes the remaining samples and stops.
void finish_activity_samples();

}  // namespace nl::collector
