#include "collector/stream_waits.h"

#include <cstring>

#include "collector/recorder.h"

namespace nl::collector {
namespace {

struct Stream {
  std::uint32_t context, number;
  bool known;
};
constinit thread_local Stream last{};  // that this thread waited for

constexpr std::uint32_t kNoStream = 0xFFFFFFFF;

}  // namespace

bool is_stream_wait(const char* function) {
  return std::strncmp(function, "cudaStreamSynchronize", 21) == 0 || std::strncmp(function, "cuStreamSynchronize", 19) == 0;
}

void around_stream_wait(const CuptiLibrary& library, const cupti::CallbackData& call) {
  if (call.site != cupti::kEnter || call.arguments == nullptr) return;
  void* handle = static_cast<const cupti::StreamWaitArguments*>(call.arguments)->stream;
  std::uint8_t per_thread = std::strstr(call.function, "_ptsz") != nullptr;
  std::uint32_t number = 0;
  if (library.api.cuptiGetStreamIdEx(call.context, handle, per_thread, &number) != cupti::kSuccess) number = kNoStream;
  if (last.known && last.context == call.context_id && last.number == number) return;
  last = {call.context_id, number, true};
  record_wait_stream(call.context_id, number);
}

}  // namespace nl::collector
