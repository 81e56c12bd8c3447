#include "collector/gpu/stream_capture.h"

#include <atomic>
#include <cstring>

#include "collector/gpu/loaded_driver.h"

namespace nl::collector {
namespace {

constexpr int kRelaxed = 2;               // CU_STREAM_CAPTURE_MODE_RELAXED
constexpr std::uintptr_t kPerThread = 2;  // CU_STREAM_PER_THREAD

struct Driver {
  int (*is_capturing)(void* stream, int* status) = nullptr;
  int (*exchange_mode)(int* mode) = nullptr;
};

constinit Driver driver;
constinit std::atomic<int> open_captures{0};

}  // namespace

void find_stream_capture() {
  const LoadedDriver loaded;
  loaded.find("cuStreamIsCapturing", driver.is_capturing);
  loaded.find("cuThreadExchangeStreamCaptureMode", driver.exchange_mode);
}

bool is_captured(void* stream, bool per_thread) {
  if (stream == nullptr && per_thread) stream = reinterpret_cast<void*>(kPerThread);
  int status = 0;
  return driver.is_capturing != nullptr && (driver.is_capturing(stream, &status) != 0 || status != 0);
}

bool is_capture_function(const char* function) {
  return std::strncmp(function, "cuStreamBeginCapture", 20) == 0 || std::strncmp(function, "cuStreamEndCapture", 18) == 0;
}

void around_capture(const char* function, bool returned) {
  bool begins = std::strncmp(function, "cuStreamBegin", 13) == 0;
  if (begins && !returned) open_captures.fetch_add(1, std::memory_order_relaxed);
  if (!begins && returned) open_captures.fetch_sub(1, std::memory_order_relaxed);
}

bool capture_open() { return open_captures.load(std::memory_order_relaxed) > 0; }

FreeOfCapture::FreeOfCapture() {
  int mode = kRelaxed;
  if (driver.exchange_mode != nullptr && driver.exchange_mode(&mode) == 0) before_ = mode;
}

FreeOfCapture::~FreeOfCapture() {
  if (before_ >= 0) driver.exchange_mode(&before_);
}

}  // namespace nl::collector
