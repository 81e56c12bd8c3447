#include "parsers/collector/records.h"

#include <algorithm>

#include "parsers/nsys/strings.h"

namespace nl::parsers::collector_trace {

using trace_format::Kind;

void Replay::run() {
  process_ = static_cast<std::uint32_t>(trace_.processes.size());
  trace_.processes.push_back(
      {file_.header.pid, clean(fixed_text(file_.header.process_name, sizeof file_.header.process_name)), file_.rank.rank});
  std::stable_sort(file_.pieces.begin(), file_.pieces.end(), [](const Piece& a, const Piece& b) { return a.sequence < b.sequence; });
  add_threads();
  for (const Piece& piece : file_.pieces)
    for (const Event& event : piece.events) play(piece.tid, event);
  // Only now: a range may have been ended by a thread that comes before the one that started it.
  for (const auto& [thread, event] : ends_) end_range(thread, event);
  for (const auto& [key, stack] : stacks_)
    for (std::uint32_t range : stack) trace_.ranges[range].open = true;
  for (const auto& [id, range] : started_) trace_.ranges[range].open = true;
  drop_backward();
}

// Text comes from the program: any bytes, and cut to the length that the file has room for.
std::string Replay::clean(const std::string& text) {
  auto mended = mended_utf8(text);
  if (mended) ++trace_.stats.rows_damaged[{Code::kNotUtf8}];
  return mended ? std::move(*mended) : text;
}

// A clock that stepped back leaves ranges of which no length is known.
void Replay::close(std::uint32_t range, Ns end_ns) {
  trace_.ranges[range].end_ns = end_ns;
  if (end_ns < trace_.ranges[range].start_ns) backward_.push_back(range);
}

void Replay::drop_backward() {
  if (backward_.empty()) return;
  trace_.stats.rows_damaged[{Code::kEndsBeforeStart, {"range"}}] += backward_.size();
  std::sort(backward_.begin(), backward_.end());
  std::vector<Range> kept;
  kept.reserve(trace_.ranges.size() - backward_.size());
  auto next = backward_.begin();
  for (std::uint32_t i = 0; i < trace_.ranges.size(); ++i) {
    if (next != backward_.end() && *next == i) ++next;
    else kept.push_back(trace_.ranges[i]);
  }
  trace_.ranges = std::move(kept);
}

std::uint32_t Replay::thread(std::uint32_t tid, const std::string& name) {
  auto [found, added] = threads_.try_emplace(tid, static_cast<std::uint32_t>(trace_.threads.size()));
  if (added) trace_.threads.push_back({process_, tid, clean(name)});
  return found->second;
}

void Replay::add_threads() {
  for (const auto& [tid, name] : file_.thread_names) {
    threads_[tid] = static_cast<std::uint32_t>(trace_.threads.size());
    trace_.threads.push_back({process_, tid, clean(name)});
  }
  for (const auto& [tid, string] : file_.nvtx_thread_names)
    if (auto found = threads_.find(tid); found != threads_.end()) trace_.threads[found->second].name = trace_.strings[text(string)];
}

StringId Replay::text(std::uint32_t number) {
  if (number == 0) return {};
  auto [known, is_new] = texts_.try_emplace(number);
  if (is_new) {
    auto found = file_.strings.find(number);
    if (found == file_.strings.end()) ++trace_.stats.rows_damaged[{Code::kUnknownString}];
    else known->second = trace_.strings.intern(clean(found->second));
  }
  return known->second;
}

std::uint32_t Replay::open_range(std::uint32_t thread, const Event& event, RangeStyle style) {
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

void Replay::play(std::uint32_t tid, const Event& event) {
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

// In what is left of a ring a range may end that began in a file that is gone: that is no damage.
void Replay::pop(std::uint32_t tid, const Event& event) {
  auto& stack = stacks_[{tid, event.domain}];
  if (stack.empty()) {
    if (file_.segment.number == 0) ++trace_.stats.rows_damaged[{Code::kUnpaired, {"pop", "push"}}];
    return;
  }
  close(stack.back(), event.time_ns - origin_ns_);
  stack.pop_back();
}

void Replay::end_range(std::uint32_t thread, const Event& event) {
  auto found = started_.find(event.range);
  if (found == started_.end()) {
    if (file_.segment.number == 0) ++trace_.stats.rows_damaged[{Code::kUnpaired, {"end", "start"}}];
    return;
  }
  Range& range = trace_.ranges[found->second];
  close(found->second, event.time_ns - origin_ns_);
  if (range.thread != thread) range.end_thread = thread;
  started_.erase(found);
}

}  // namespace nl::parsers::collector_trace
