#include "collector/gpu/log.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include <pthread.h>

#include "collector/host_program.h"
#include "collector/nvtx/recorder.h"

namespace nl::collector {
namespace {

using namespace trace_format;

struct Log {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  GpuPacker packer;
  std::uint32_t metric_sets = 0;
};

constinit Log log;

void write_note(NoteCode code, const char* format, va_list arguments) {
  char text[2048];
  std::vsnprintf(text, sizeof text, format, arguments);
  GpuLog().append_text(Kind::kNote, static_cast<std::uint32_t>(code), text);
  char line[2200];
  int bytes = std::snprintf(line, sizeof line, "nl-stage collector: %s\n", text);
  if (bytes > 0) tell_user(line);
}

}  // namespace

GpuLog::GpuLog() { pthread_mutex_lock(&log.mutex); }
GpuLog::~GpuLog() { pthread_mutex_unlock(&log.mutex); }
GpuPacker& GpuLog::packer() { return log.packer; }
void GpuLog::append(const void* record, std::size_t bytes) { append_gpu_record(record, bytes); }

void GpuLog::append_text(Kind kind, std::uint32_t id, const char* text) {
  constexpr std::size_t kMostBytes = 2040;
  alignas(8) char buffer[sizeof(String) + kMostBytes + 8] = {};
  std::size_t length = strnlen(text, kMostBytes);
  String record{{kind, static_cast<std::uint16_t>((sizeof(String) + length + 7) / 8 * 8), id}, static_cast<std::uint32_t>(length), 0};
  std::memcpy(buffer, &record, sizeof record);
  std::memcpy(buffer + sizeof record, text, length);
  append(buffer, record.head.bytes);
}

std::uint32_t GpuLog::next_metric_set() { return ++log.metric_sets; }

std::uint32_t GpuLog::kernel_name(const char* mangled) { return log.packer.number_of_name(mangled); }

void note(NoteCode code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_note(code, format, arguments);
  va_end(arguments);
}

void note_once(bool& told, const char* format, ...) {
  if (told) return;
  told = true;
  va_list arguments;
  va_start(arguments, format);
  write_note(NoteCode::kOther, format, arguments);
  va_end(arguments);
}

const char* words_for(const CuptiLibrary& library, cupti::Result result) {
  const char* text = nullptr;
  if (library.api.cuptiGetResultString != nullptr) library.api.cuptiGetResultString(result, &text);
  return text != nullptr ? text : "unknown error";
}

}  // namespace nl::collector
