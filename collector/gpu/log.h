#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/gpu/cupti_library.h"
#include "collector/gpu/packer.h"

// What the parts of the GPU half write with: one lock, one packer, one row of chunks in the trace file.
namespace nl::collector {

using trace_format::NoteCode;

// Held while it lives; the packer is only used under it.
class GpuLog {
 public:
  GpuLog();
  ~GpuLog();
  GpuLog(const GpuLog&) = delete;
  GpuLog& operator=(const GpuLog&) = delete;

  GpuPacker& packer();
  void append(const void* record, std::size_t bytes);
  void append_text(trace_format::Kind kind, std::uint32_t id, const char* text);  // a String; what is too long is cut
  std::uint32_t kernel_name(const char* mangled);                                 // its GpuName
  std::uint32_t next_metric_set();
};

// Writes a note into the trace, where the report finds it, and to a user who started the program by hand.
__attribute__((format(printf, 2, 3))) void note(NoteCode code, const char* format, ...);

// Writes the note only the first time, because a fault may come again and again. Its code is NoteCode::kOther.
__attribute__((format(printf, 2, 3))) void note_once(bool& told, const char* format, ...);

const char* words_for(const CuptiLibrary& library, cupti::Result result);

}  // namespace nl::collector
