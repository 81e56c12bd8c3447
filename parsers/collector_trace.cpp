#include "parsers/collector_trace.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "parsers/collector_trace_clock.h"
#include "parsers/collector_trace_merge.h"
#include "parsers/collector_trace_records.h"

// What becomes of what: a file → Process; ThreadStart and ThreadName → Thread; Push with its Pop, Start
// with its End → Range; Mark → Mark; String → the pool. What the GPU half wrote is merged by
// collector_trace_merge.cpp. A bad header is an error, a bad record is counted.
namespace nl {
namespace {

namespace format = trace_format;
using collector_trace::Event;
using collector_trace::File;
using collector_trace::fixed_text;
using collector_trace::Piece;
using format::Kind;

// Turns the events of one file into the ranges and marks of the trace.
class Replay {
 public:
  Replay(File& file, Trace& trace, Ns origin_ns) : file_(file), trace_(trace), origin_ns_(origin_ns) {}

  void run() {
    process_ = static_cast<std::uint32_t>(trace_.processes.size());
    trace_.processes.push_back({file_.header.pid, fixed_text(file_.header.process_name, sizeof file_.header.process_name)});
    std::stable_sort(file_.pieces.begin(), file_.pieces.end(), [](const Piece& a, const Piece& b) { return a.sequence < b.sequence; });
    add_threads();
    for (const Piece& piece : file_.pieces)
      for (const Event& event : piece.events) play(piece.tid, event);
    // Only now: a range may have been ended by a thread that comes before the one that started it.
    for (const auto& [thread, event] : ends_) end_range(thread, event);
    for (const auto& [key, stack] : stacks_)
      for (std::uint32_t range : stack) trace_.ranges[range].open = true;
    for (const auto& [id, range] : started_) trace_.ranges[range].open = true;
  }

  std::uint32_t process() const { return process_; }
  std::uint32_t thread(std::uint32_t tid, const std::string& name) {
    auto [found, added] = threads_.try_emplace(tid, static_cast<std::uint32_t>(trace_.threads.size()));
    if (added) trace_.threads.push_back({process_, tid, name});
    return found->second;
  }

 private:
  void add_threads() {
    for (const auto& [tid, name] : file_.thread_names) {
      threads_[tid] = static_cast<std::uint32_t>(trace_.threads.size());
      trace_.threads.push_back({process_, tid, name});
    }
    for (const auto& [tid, string] : file_.nvtx_thread_names)
      if (auto found = threads_.find(tid); found != threads_.end())
        trace_.threads[found->second].name = trace_.strings[text(string)];
  }

  StringId text(std::uint32_t number) {
    if (number == 0) return {};
    auto [known, is_new] = texts_.try_emplace(number);
    if (is_new) {
      auto found = file_.strings.find(number);
      if (found == file_.strings.end()) ++trace_.stats.rows_damaged["unknown string"];
      else known->second = trace_.strings.intern(found->second);
    }
    return known->second;
  }

  std::uint32_t open_range(std::uint32_t thread, const Event& event, RangeStyle style) {
    Range range;
    range.start_ns = range.end_ns = event.time_ns - origin_ns_;
    range.name = text(event.name);
    range.domain = text(event.domain);
    range.thread = thread;
    range.style = style;
    range.payload = event.payload;
    trace_.ranges.push_back(range);
    return static_cast<std::uint32_t>(trace_.ranges.size() - 1);
  }

  void play(std::uint32_t tid, const Event& event) {
    std::uint32_t thread = threads_.at(tid);
    trace_.duration_ns = std::max(trace_.duration_ns, event.time_ns - origin_ns_);
    switch (event.kind) {
      case Kind::kPush: stacks_[{tid, event.domain}].push_back(open_range(thread, event, RangeStyle::kPushPop)); break;
      case Kind::kPop: pop(tid, event); break;
      case Kind::kStart: started_[event.range] = open_range(thread, event, RangeStyle::kStartEnd); break;
      case Kind::kEnd: ends_.emplace_back(thread, event); break;
      default: trace_.marks.push_back({event.time_ns - origin_ns_, text(event.name), text(event.domain), thread}); break;
    }
  }

  void pop(std::uint32_t tid, const Event& event) {
    auto& stack = stacks_[{tid, event.domain}];
    if (stack.empty()) {
      ++trace_.stats.rows_damaged["pop without a push"];
      return;
    }
    trace_.ranges[stack.back()].end_ns = event.time_ns - origin_ns_;
    stack.pop_back();
  }

  void end_range(std::uint32_t thread, const Event& event) {
    auto found = started_.find(event.range);
    if (found == started_.end()) {
      ++trace_.stats.rows_damaged["end without a start"];
      return;
    }
    Range& range = trace_.ranges[found->second];
    range.end_ns = event.time_ns - origin_ns_;
    if (range.thread != thread) range.end_thread = thread;
    started_.erase(found);
  }

  File& file_;
  Trace& trace_;
  Ns origin_ns_;
  std::uint32_t process_ = 0;
  std::map<std::uint32_t, std::uint32_t> threads_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> stacks_;  // (tid, domain)
  std::unordered_map<std::uint64_t, std::uint32_t> started_;
  std::vector<std::pair<std::uint32_t, Event>> ends_;
  std::unordered_map<std::uint32_t, StringId> texts_;
};

void finish(Trace& trace) {
  for (Range& range : trace.ranges)
    if (range.open) range.end_ns = trace.duration_ns;
  // By time, the outer of two that start at once first: what a timeline shows.
  std::stable_sort(trace.ranges.begin(), trace.ranges.end(), [](const Range& a, const Range& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  std::stable_sort(trace.marks.begin(), trace.marks.end(), [](const Mark& a, const Mark& b) { return a.time_ns < b.time_ns; });
  trace.stats.rows_read.insert({{"processes", trace.processes.size()}, {"threads", trace.threads.size()},
                                {"ranges", trace.ranges.size()}, {"marks", trace.marks.size()}});
  trace.has_range_data = true;
}

}  // namespace

Trace read_collector_traces(const std::vector<std::filesystem::path>& paths, CallRows rows) {
  Trace trace;
  trace.stats.source_format = "collector";
  trace.stats.schema_version = std::to_string(format::kVersion);
  std::vector<File> files;
  for (const auto& path : paths) {
    File file;
    if (collector_trace::read_file(path, file, trace.stats)) files.push_back(std::move(file));
  }
  // CLOCK_MONOTONIC is one clock for all processes; the capture begins with the earliest of them.
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
    return std::pair(a.header.monotonic_ns, a.header.pid) < std::pair(b.header.monotonic_ns, b.header.pid);
  });
  collector_trace::GpuMerge gpu(trace, rows == CallRows::kAll);
  for (File& file : files) {
    Ns origin_ns = files.front().header.monotonic_ns;
    Replay replay(file, trace, origin_ns);
    replay.run();
    std::vector<std::uint32_t> threads;
    for (const auto& thread : file.gpu.threads) threads.push_back(replay.thread(thread.tid, thread.name));
    gpu.add_work(std::move(file.gpu), replay.process(), origin_ns, std::move(threads));
  }
  gpu.add_calls();
  collector_trace::note_clocks(trace);
  if (!files.empty()) {
    const format::FileHeader& first = files.front().header;
    trace.utc_start_ns = first.realtime_ns;
    trace.stats.tool_version = fixed_text(first.collector_version, sizeof first.collector_version);
  }
  finish(trace);
  return trace;
}

}  // namespace nl
