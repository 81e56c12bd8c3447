#pragma once

#include <cstdint>

// While a stream is captured into a CUDA graph, work is recorded and not run, and a call that waits for the GPU would
// spoil the capture: then nothing is measured.
namespace nl::collector {

void find_stream_capture();  // the driver's functions for it

// Whether what is launched there now is being captured. `per_thread`: where 0 means the thread's own default stream.
bool is_captured(void* stream, bool per_thread);

// The driver's functions that begin and end a capture, and what CUPTI's callback calls when one was called or has returned.
bool is_capture_function(const char* function);
void around_capture(const char* function, bool returned);
bool capture_open();  // anywhere in the process

// Lets this thread make calls that are refused while another thread captures.
class FreeOfCapture {
 public:
  FreeOfCapture();
  ~FreeOfCapture();
  FreeOfCapture(const FreeOfCapture&) = delete;
  FreeOfCapture& operator=(const FreeOfCapture&) = delete;

 private:
  int before_ = -1;
};

}  // namespace nl::collector
