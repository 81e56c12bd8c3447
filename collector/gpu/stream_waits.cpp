#include "collector/gpu/stream_waits.h"

#include <cstring>

#include "collector/gpu/cuda_functions.h"
#include "collector/nvtx/recorder.h"
#include "collector/trace_format.h"

namespace nl::collector {
namespace {

struct Stream {
  std::uint32_t context, number;
  bool known;
};
constinit thread_local Stream last{};  // that this thread waited for

}  // namespace

bool is_stream_wait(const char* function) {
  return std::strncmp(function, "cudaStreamSynchronize", 21) == 0 || std::strncmp(function, "cuStreamSynchronize", 19) == 0;
}

void around_stream_wait(const CuptiLibrary& library, const cupti::CallbackData& call) {
  if (call.site != cupti::kEnter || call.arguments == nullptr) return;
  void* handle = static_cast<const cupti::StreamWaitArguments*>(call.arguments)->stream;
  std::uint32_t number = 0;
  if (library.api.cuptiGetStreamIdEx(call.context, handle, has_thread_streams(call.function), &number) != cupti::kSuccess)
    number = trace_format::kNoStream;
  if (last.known && last.context == call.context_id && last.number == number) return;
  last = {call.context_id, number, true};
  record_wait_stream(call.context_id, number);
}

}  // namespace nl::collector
