#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/trace_format.h"
#include "model/evidence.h"
#include "model/trace.h"
#include "parsers/collector/gpu.h"

// One file of the collector, taken apart into records; Replay makes ranges of them.
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
  std::vector<Launch> launches;
};

struct File {
  trace_format::FileHeader header{};
  std::string run;  // RunLabel; empty: not known
  trace_format::Segment segment{};
  RankFacts rank;
  std::vector<Piece> pieces;
  std::unordered_map<std::uint32_t, std::string> strings;
  std::map<std::uint32_t, std::string> thread_names;         // tid → the kernel's name, or NVTX's
  std::map<std::uint32_t, std::uint32_t> nvtx_thread_names;  // tid → string
  GpuData gpu;
  std::vector<GpuData> more_gpu;  // of the files that continue it
};

std::string fixed_text(const char* text, std::size_t capacity);

// False, and counted, where the process was killed before the header was written. A bad header is an
// Error, a bad record is counted, a file that was cut or could not grow is noted. It stops after the first chunk that is `enough`.
bool read_file(const std::filesystem::path& path, File& file, ImportStats& stats, bool (*enough)(const File& file) = nullptr);

// The files of a run, the earliest process first.
std::vector<File> read_files(const std::vector<std::filesystem::path>& paths, ImportStats& stats);

// A recorder's process leaves several files, each with numbers of its own: the ones that continue another become part of it. `files`: by time.
void join_segments(std::vector<File>& files);

// Turns the events of one file into the ranges and marks of the trace.
class Replay {
 public:
  Replay(File& file, Trace& trace, Ns origin_ns) : file_(file), trace_(trace), origin_ns_(origin_ns) {}
  void run();
  std::uint32_t process() const { return process_; }
  std::uint32_t thread(std::uint32_t tid, const std::string& name);

 private:
  void add_threads();
  StringId text(std::uint32_t number);
  std::uint32_t open_range(std::uint32_t thread, const Event& event, RangeStyle style);
  void play(std::uint32_t tid, const Event& event);
  void pop(std::uint32_t tid, const Event& event);
  void end_range(std::uint32_t thread, const Event& event);
  void close(std::uint32_t range, Ns end_ns);
  void drop_backward();
  std::string clean(const std::string& text);

  File& file_;
  Trace& trace_;
  Ns origin_ns_;
  std::uint32_t process_ = 0;
  std::map<std::uint32_t, std::uint32_t> threads_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> stacks_;  // (tid, domain)
  std::unordered_map<std::uint64_t, std::uint32_t> started_;
  std::vector<std::pair<std::uint32_t, Event>> ends_;
  std::unordered_map<std::uint32_t, StringId> texts_;
  std::vector<std::uint32_t> backward_;  // ranges that end before they start
};

}  // namespace nl::parsers::collector_trace
