#pragma once

#include <cstdint>

#include "collector/gpu/cupti_library.h"

// What the GPU's units do, sampled by the hardware at regular intervals while the program runs (CUPTI's PM sampling):
// a thread of ours takes the samples off the GPU and writes them to the trace. The program's launches are left alone.
namespace nl::collector {

// Reads what is asked for from the environment; nothing is started where nothing is.
void sample_activity(const CuptiLibrary& library);

// From CUPTI's callback: sampling of a device begins with its first context. Takes some tenths of a second.
void sample_activity_of(std::uint32_t device);

// Takes what is left and stops.
void finish_activity_samples();

}  // namespace nl::collector
