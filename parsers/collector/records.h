#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/trace_format.h"
#include "model/trace.h"
#include "parsers/collector/gpu.h"

// One file of the collector, taken apart into records; collector_trace.cpp makes ranges of them.
namespace nl::parsers::collector_trace {

struct Event {
  trace_format::Kind kind = trace_format::Kind::kMark;
  Ns time_ns = 0;
  std::uint32_t name = 0;  // numbers of the file's strings
  std::uint32_t domain = 0;
  std::uint64_t range = 0;
  std::optional<std::int64_t> payload;
};

struct Piece {  // what one thread wrote into one chunk, in order
  std::uint64_t sequence = 0;
  std::uint32_t tid = 0;
  std::vector<Event> events;
};

struct File {
  trace_format::FileHeader header{};
  std::vector<Piece> pieces;
  std::unordered_map<std::uint32_t, std::string> strings;
  std::map<std::uint32_t, std::string> thread_names;         // tid → the kernel's name, or NVTX's
  std::map<std::uint32_t, std::uint32_t> nvtx_thread_names;  // tid → string
  GpuData gpu;
};

std::string fixed_text(const char* text, std::size_t capacity);

// False, and counted, where the process was killed before the header was written. A bad header is an
// Error, a bad record is counted, a file that was cut or could not grow is noted. Ends after the chunk with which it is `enough`.
bool read_file(const std::filesystem::path& path, File& file, ImportStats& stats, bool (*enough)(const File& file) = nullptr);

// Those of a run, the earliest process first.
std::vector<File> read_files(const std::vector<std::filesystem::path>& paths, ImportStats& stats);

}  // namespace nl::parsers::collector_trace
