#pragma once

#include <cstdint>

// What a window asks of the GPU half. Attaching to CUPTI from the start would slow every launch of a CUDA graph by a third, so that the
// GPU half of a recorder only says that it is there, and attaches when the first window is armed. All of it is called by the recorder's own
// thread: the program's threads never wait for CUPTI here.
namespace nl::collector {

struct GpuHalf {
  bool (*attach)();  // takes about 20 ms. False: it cannot, and a note in the trace says why
  void (*begin)();   // from here on the work of the GPU is recorded, into the file that has just begun
  void (*end)();     // no longer. What was launched before is awaited for some milliseconds
  void (*flush)();   // what is complete is in the file, so that a killed process has lost little
};

void offer_gpu_half(const GpuHalf& half);  // once CUDA has started in the process
void count_launch();                       // while a window is open: of a kernel or a CUDA graph

}  // namespace nl::collector
