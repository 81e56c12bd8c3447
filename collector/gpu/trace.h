#pragma once

#include "collector/gpu/cupti_library.h"

// Kernels, copies, CUDA calls and waits: CUPTI fills our buffers, and what comes back full is packed and appended to the
// trace file on the spot, so that a killed process has lost only what CUPTI still held.
namespace nl::collector {

// Reads what is asked for from the environment. False, and said, where nothing can be recorded.
bool trace_gpu(const CuptiLibrary& library);
bool waits_are_calls();   // and no records of their own
bool graphs_as_wholes();  // their kernels are not recorded one by one

// Copies between GPUs, too. Not before there can be any: it doubles what the launch of a CUDA graph costs the host.
void trace_peer_copies();

// What is complete goes to the file: from a thread of ours, now and then.
void flush_gpu_trace();

void finish_gpu_trace();  // all of it, at the program's end
void rescue_gpu_trace();  // cudaDeviceReset takes the records with it
void forget_gpu_trace();  // in a child of fork: CUDA is the parent's

}  // namespace nl::collector
