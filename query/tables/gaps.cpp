#include <algorithm>

#include "analysis/account/activity.h"
#include "analysis/account/launch_waits.h"
#include "analysis/trace/api_kind.h"
#include "model/words.h"
#include "query/idle_time.h"
#include "query/tables/slices.h"
#include "query/tables/stack_text.h"

namespace nl::query {
namespace {

using enum ColumnType;

// A stretch of idle time, and what the host did around it.
class Gaps : public Rows {
 public:
  explicit Gaps(const Sources& sources)
      : sources_(sources), slices_(sources), calls_(*sources.trace), other_calls_(*sources.trace, sources.trace->other_calls),
        samples_(analysis::samples_by_thread(*sources.trace)), texts_(sources.trace->host) {}
  std::size_t size() const override { return idle().stretches.size(); }
  const IdleTime& idle() const { return *sources_.idle; }
  const IdleStretch& at(std::size_t row) const { return idle().stretches[row]; }
  const analysis::GpuLane& lane(std::size_t row) const { return idle().lanes[at(row).lane]; }
  const analysis::Window& window(std::size_t row) const { return sources_.windows->windows[at(row).window]; }
  const WindowList& windows() const { return *sources_.windows; }
  const Trace& trace() const { return *sources_.trace; }
  const Slices& slices() const { return slices_; }
  const StackText& texts() const { return texts_; }

  const ApiCall* call_after(std::size_t row) const {
    const std::uint32_t api = at(row).after != kNone ? slices_.launch_of(at(row).after) : kNone;
    return api != kNone ? &trace().api_calls[api] : nullptr;
  }
  // What the thread called last before that, or before the gap ended.
  const ApiCall* call_before(std::size_t row) const {
    const ApiCall* launch = call_after(row);
    const std::uint32_t thread = launch != nullptr ? static_cast<std::uint32_t>(launch->thread) : window(row).thread;
    const Ns until_ns = launch != nullptr ? launch->start_ns : at(row).end_ns;
    const ApiCall* work = last_before(calls_, thread, until_ns);
    const ApiCall* other = last_before(other_calls_, thread, until_ns);
    if (work == nullptr || other == nullptr) return work != nullptr ? work : other;
    return work->start_ns >= other->start_ns ? work : other;
  }
  struct Seen {
    std::uint64_t samples = 0;
    std::uint32_t stack = kNone;  // the most frequent, of those the first
  };
  // What the thread that launches ran meanwhile; where it was not sampled, the thread of the window.
  Seen seen(std::size_t row) const {
    const ApiCall* launch = call_after(row);
    std::uint32_t thread = launch != nullptr ? static_cast<std::uint32_t>(launch->thread) : window(row).thread;
    if (thread >= samples_.size() || samples_[thread].empty()) thread = window(row).thread;
    if (thread >= samples_.size()) return {};
    return most_frequent(samples_[thread], at(row).start_ns, at(row).end_ns);
  }

 private:
  static const ApiCall* last_before(const analysis::CallsByThread& calls, std::uint32_t thread, Ns time_ns) {
    if (thread >= calls.threads()) return nullptr;
    std::size_t low = calls.first(thread), high = calls.last(thread);
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (calls[middle].start_ns < time_ns) low = middle + 1;
      else high = middle;
    }
    return low > calls.first(thread) ? &calls[low - 1] : nullptr;
  }
  Seen most_frequent(const std::vector<std::uint32_t>& samples, Ns start_ns, Ns end_ns) const {
    const std::vector<HostSample>& all = trace().host.samples;
    const auto first = std::lower_bound(samples.begin(), samples.end(), start_ns,
                                        [&](std::uint32_t each, Ns time_ns) { return all[each].time_ns < time_ns; });
    std::vector<std::pair<std::uint32_t, std::uint64_t>> counts;
    Seen seen;
    for (auto each = first; each != samples.end() && all[*each].time_ns < end_ns; ++each) {
      const std::uint32_t stack = all[*each].stack;
      auto found = std::find_if(counts.begin(), counts.end(), [&](const auto& count) { return count.first == stack; });
      if (found == counts.end()) found = counts.insert(counts.end(), {stack, 0});
      ++found->second;
      ++seen.samples;
    }
    std::uint64_t most = 0;
    for (const auto& [stack, count] : counts)
      if (count > most) {
        most = count;
        seen.stack = stack;
      }
    return seen;
  }

  Sources sources_;
  Slices slices_;
  analysis::CallsByThread calls_, other_calls_;
  std::vector<std::vector<std::uint32_t>> samples_;  // by thread
  StackText texts_;
};

Value call_name(const Gaps& gaps, const ApiCall* call) {
  return call != nullptr ? Value::known(gaps.trace().strings[call->name]) : Value::null();
}

std::vector<Column> columns_of_gap() {
  return {
      column<Gaps>("id", kInteger, "", "number of the row", [](const Gaps&, std::size_t row) { return Value::count(row); }),
      column<Gaps>("gap", kInteger, "", "the idle time between two pieces of work: rows of one gap differ in bin or window",
                   [](const Gaps& gaps, std::size_t row) { return Value::count(gaps.at(row).gap); }),
      column<Gaps>("bin", kText, "",
                   "why the GPU is idle: queue_wait, sync_blocked, launch_starved, launch_latency, other_host or residual, as in windows",
                   [](const Gaps& gaps, std::size_t row) {
                     const std::string_view key = kBudgetBinKeys[static_cast<std::size_t>(gaps.at(row).bin)].key;
                     return Value::of(key.substr(0, key.size() - std::string_view("_ns").size()));
                   }),
      column<Gaps>("start_ns", kInteger, "ns", "when it began, since the start of the capture",
                   [](const Gaps& gaps, std::size_t row) { return Value::of(gaps.at(row).start_ns); }),
      column<Gaps>("end_ns", kInteger, "ns", "when it ended",
                   [](const Gaps& gaps, std::size_t row) { return Value::of(gaps.at(row).end_ns); }),
      column<Gaps>("duration_ns", kInteger, "ns", "how long the GPU was idle for this reason, in this window",
                   [](const Gaps& gaps, std::size_t row) { return Value::of(gaps.at(row).end_ns - gaps.at(row).start_ns); }),
      column<Gaps>("gap_ns", kInteger, "ns", "of the whole gap, from the work before to the work after",
                   [](const Gaps& gaps, std::size_t row) {
                     const auto& [from_ns, until_ns] = gaps.idle().gaps[gaps.at(row).gap];
                     return Value::of(until_ns - from_ns);
                   }),
      column<Gaps>("gpu", kInteger, "", "number of the GPU; NULL: the process has no GPU work",
                   [](const Gaps& gaps, std::size_t row) {
                     const std::int32_t device = gaps.lane(row).device;
                     return device != analysis::kNoDevice ? Value::of(std::int64_t{device}) : Value::null();
                   }),
      column<Gaps>("pid", kInteger, "", "number of its process",
                   [](const Gaps& gaps, std::size_t row) { return Value::count(gaps.lane(row).pid); }),
      column<Gaps>(
          "stage", kText, "", "the innermost stage",
          [](const Gaps& gaps, std::size_t row) { return Value::of(std::string_view(gaps.windows().stage_of(gaps.at(row).window))); }),
      column<Gaps>("window", kInteger, "", "windows.id",
                   [](const Gaps& gaps, std::size_t row) { return Value::count(gaps.at(row).window); }),
      column<Gaps>("warmup", kInteger, "", "1: in a warm-up iteration",
                   [](const Gaps& gaps, std::size_t row) { return Value::count(gaps.window(row).warmup); }),
  };
}

std::vector<Column> columns_around_gap() {
  return {
      column<Gaps>("before", kText, "", "the GPU work before it, by its short name",
                   [](const Gaps& gaps, std::size_t row) {
                     const std::uint32_t work = gaps.at(row).before;
                     return work != kNone ? Value::known(gaps.slices().short_name(work)) : Value::null();
                   }),
      column<Gaps>("after", kText, "", "the GPU work after it, by its short name",
                   [](const Gaps& gaps, std::size_t row) {
                     const std::uint32_t work = gaps.at(row).after;
                     return work != kNone ? Value::known(gaps.slices().short_name(work)) : Value::null();
                   }),
      column<Gaps>("before_id", kInteger, "", "slices.id of the work before",
                   [](const Gaps& gaps, std::size_t row) {
                     return gaps.at(row).before != kNone ? Value::count(gaps.at(row).before) : Value::null();
                   }),
      column<Gaps>(
          "after_id", kInteger, "", "slices.id of the work after",
          [](const Gaps& gaps, std::size_t row) { return gaps.at(row).after != kNone ? Value::count(gaps.at(row).after) : Value::null(); }),
      column<Gaps>("call_before", kText, "", "the CUDA call that the launching thread made last before call_after",
                   [](const Gaps& gaps, std::size_t row) { return call_name(gaps, gaps.call_before(row)); }),
      column<Gaps>("call_after", kText, "", "the CUDA call that launched the work after it; NULL: not in the capture",
                   [](const Gaps& gaps, std::size_t row) { return call_name(gaps, gaps.call_after(row)); }),
      column<Gaps>("samples", kInteger, "", "samples of the launching thread in it",
                   [](const Gaps& gaps, std::size_t row) { return Value::count(gaps.seen(row).samples); }),
      column<Gaps>("stack", kInteger, "", "stacks.id that most of them have; NULL: none",
                   [](const Gaps& gaps, std::size_t row) {
                     const std::uint32_t stack = gaps.seen(row).stack;
                     return stack != kNone ? Value::count(stack) : Value::null();
                   }),
      column<Gaps>("code", kText, "", "the innermost frame of that stack: function (file:line)",
                   [](const Gaps& gaps, std::size_t row) { return gaps.texts().innermost(gaps.seen(row).stack); }),
  };
}

}  // namespace

Table gaps_table() {
  Table table{"gaps",
              "idle time of a GPU inside the stages: one row for each reason within a gap, every idle nanosecond once",
              columns_of_gap(),
              kTrace | kWindows | kGaps,
              1e5,
              [](const Sources& sources) -> std::unique_ptr<Rows> { return std::make_unique<Gaps>(sources); },
              "the capture has no stages, or no GPU is idle in them"};
  for (Column& each : columns_around_gap()) table.columns.push_back(each);
  return table;
}

}  // namespace nl::query
