#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/trace.h"
#include "parsers/collector/records.h"

namespace nl::parsers::collector_trace {

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
