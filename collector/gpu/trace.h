#pragma once

#include "collector/gpu/cupti_library.h"

// Kernels, copies, CUDA calls and waits: CUPTI fills our buffers, and what comes back full is packed and appended to the
// trace file on the spot, so that a killed process has lost only what CUPTI still held.
namespace nl::collector {

// Reads from the environment what to record. Where nothing can be recorded it returns false and says why.
bool trace_gpu(const CuptiLibrary& library);
bool waits_are_calls();   // and no records of their own
bool graphs_as_wholes();  // their kernels are not recorded one by one

// From now on also records copies between GPUs. It is called only when there can be any, because it doubles the host time of launching
// a CUDA graph.
void trace_peer_copies();

// Between these nothing but devices and contexts is recorded. The trace says from when to when. Tracing goes on when it starts.
void pause_gpu_trace();
void resume_gpu_trace();
void end_gpu_trace_soon();  // only says so: a step that begins from now on may end outside

// For a recorder, whose windows lie in files of their own. Called while the trace is paused: the file in hand is a new one, and all that its
// records refer to is written into it.
void begin_gpu_file();
bool several_devices_in_use();     // as the driver says: for who did not hear of their contexts
void keep_gpu_records(bool keep);  // what CUPTI delivers while they are not kept belongs to no window

// Writes the complete records to the file. A thread of the collector calls it now and then.
void flush_gpu_trace();

void finish_gpu_trace();  // all of it, at the program's end
void rescue_gpu_trace();  // cudaDeviceReset takes the records with it
void forget_gpu_trace();  // in a child of fork: CUDA is the parent's

}  // namespace nl::collector
