#include <algorithm>
#include <vector>

#include "model/words.h"
#include "query/idle_time.h"
#include "query/sources.h"

namespace nl::query {
namespace {

using analysis::Window;
using enum ColumnType;

class Windows : public Rows {
 public:
  Windows(const Sources& sources, std::vector<std::uint32_t> ids) : sources_(sources), ids_(std::move(ids)) {}
  std::size_t size() const override { return ids_.size(); }
  std::uint32_t id(std::size_t row) const { return ids_[row]; }
  const Window& window(std::size_t row) const { return list().windows[ids_[row]]; }
  const WindowList& list() const { return *sources_.windows; }
  const Trace& trace() const { return *sources_.trace; }
  Value bin(std::size_t row, BudgetBin bin) const { return Value::of(sources_.idle->bins[ids_[row]][static_cast<std::size_t>(bin)]); }
  // The first window of the stage inside, on its thread: the prefill of a request.
  const Window* first_inside(std::size_t row, StageKind kind) const {
    const Window& outer = window(row);
    for (std::size_t at = ids_[row] + 1; at < list().windows.size() && list().windows[at].start_ns < outer.end_ns; ++at) {
      const Window& each = list().windows[at];
      if (each.thread == outer.thread && stage_kind(list().stages[each.stage]) == kind && each.end_ns <= outer.end_ns) return &each;
    }
    return nullptr;
  }

 private:
  Sources sources_;
  std::vector<std::uint32_t> ids_;
};

std::vector<std::uint32_t> all_windows(const WindowList& list) {
  std::vector<std::uint32_t> all(list.windows.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

std::vector<std::uint32_t> windows_of_requests(const WindowList& list) {
  std::vector<std::uint32_t> requests;
  for (std::uint32_t i = 0; i < list.windows.size(); ++i)
    if (stage_kind(list.stages[list.windows[i].stage]) == StageKind::kRequest) requests.push_back(i);
  return requests;
}

template <BudgetBin kBin>
Column bin_column(std::string_view name, std::string_view help) {
  return column<Windows>(name, kReal, "ns", help, [](const Windows& all, std::size_t row) { return all.bin(row, kBin); }, kBins);
}

std::vector<Column> columns_of_window() {
  return {
      column<Windows>("id", kInteger, "", "number of the window, by its start",
                      [](const Windows& all, std::size_t row) { return Value::count(all.id(row)); }),
      column<Windows>("start_ns", kInteger, "ns", "when it began, since the start of the capture",
                      [](const Windows& all, std::size_t row) { return Value::of(all.window(row).start_ns); }),
      column<Windows>("end_ns", kInteger, "ns", "when it ended, since the start of the capture",
                      [](const Windows& all, std::size_t row) { return Value::of(all.window(row).end_ns); }),
      column<Windows>("duration_ns", kInteger, "ns", "how long it took on the host",
                      [](const Windows& all, std::size_t row) { return Value::of(all.window(row).wall_ns()); }),
      column<Windows>("pid", kInteger, "", "number of its process",
                      [](const Windows& all, std::size_t row) {
                        const std::uint32_t thread = all.window(row).thread;
                        if (thread >= all.trace().threads.size()) return Value::null();
                        const std::uint32_t process = all.trace().threads[thread].process;
                        return process < all.trace().processes.size() ? Value::count(all.trace().processes[process].pid) : Value::null();
                      }),
      column<Windows>("tid", kInteger, "", "number of its thread",
                      [](const Windows& all, std::size_t row) {
                        const std::uint32_t thread = all.window(row).thread;
                        return thread < all.trace().threads.size() ? Value::count(all.trace().threads[thread].tid) : Value::null();
                      }),
      column<Windows>("iteration", kInteger, "", "number of its iteration, from 0; NULL: before the first",
                      [](const Windows& all, std::size_t row) {
                        return all.window(row).iteration != kNone ? Value::count(all.window(row).iteration) : Value::null();
                      }),
      column<Windows>("warmup", kInteger, "", "1: in a warm-up iteration, which the figures of a run leave out",
                      [](const Windows& all, std::size_t row) { return Value::count(all.window(row).warmup); }),
      column<Windows>("tokens", kInteger, "", "of all its sequences, where its range says so",
                      [](const Windows& all, std::size_t row) { return Value::known(all.window(row).tokens); }),
  };
}

std::vector<Column> columns_of_stage() {
  return {
      column<Windows>("stage", kText, "", "the stage: prefill, decode, decode_step, …",
                      [](const Windows& all, std::size_t row) { return Value::of(std::string_view(all.list().stage_of(all.id(row)))); }),
      column<Windows>("position", kInteger, "", "among the windows of its stage, from 0",
                      [](const Windows& all, std::size_t row) { return Value::count(all.list().positions[all.id(row)]); }),
      column<Windows>("derived", kInteger, "", "1: decode as the span of its steps, which no range marks",
                      [](const Windows& all, std::size_t row) { return Value::count(all.window(row).derived); }),
  };
}

// The budget of the window: its wall time, each nanosecond in one bin.
std::vector<Column> columns_of_budget() {
  return {
      bin_column<BudgetBin::kCompute>("gpu_compute_ns",
                                      "a kernel runs; this and the next eight add up to duration_ns, the mean of the GPUs of its process"),
      bin_column<BudgetBin::kCommunication>("communication_ns", "no other kernel runs, but communication with other GPUs does"),
      bin_column<BudgetBin::kExposedCopy>("exposed_copy_ns", "only a copy or set runs"),
      bin_column<BudgetBin::kQueueWait>("queue_wait_ns", "the GPU is idle, its next work was launched before"),
      bin_column<BudgetBin::kSyncBlocked>("sync_blocked_ns", "the GPU is idle, the thread is in a call that waits for it"),
      bin_column<BudgetBin::kLaunchStarved>("launch_starved_ns", "the GPU is idle, the call that launches its next work has not begun"),
      bin_column<BudgetBin::kLaunchLatency>("launch_latency_ns", "the GPU is idle, that call has begun and its work has not"),
      bin_column<BudgetBin::kOtherHost>("other_host_ns", "the GPU is idle, the window launches nothing more"),
      bin_column<BudgetBin::kResidual>("residual_ns", "the GPU is idle before work whose call is not in the capture"),
  };
}

}  // namespace

Table windows_table() {
  Table table{
      "windows",
      "one execution of a stage: a prefill, a decode step",
      {},
      kTrace | kWindows,
      1000,
      [](const Sources& sources) -> std::unique_ptr<Rows> { return std::make_unique<Windows>(sources, all_windows(*sources.windows)); }};
  for (auto part : {columns_of_stage, columns_of_window, columns_of_budget})
    for (Column& each : part()) table.columns.push_back(each);
  std::rotate(table.columns.begin(), table.columns.begin() + 3, table.columns.begin() + 4);  // id first
  return table;
}

Table requests_table() {
  Table table{"requests",
              "a request to a server or a call of generate(), where the capture marks them: windows of the stage request",
              columns_of_window(),
              kTrace | kWindows,
              1000,
              [](const Sources& sources) -> std::unique_ptr<Rows> {
                return std::make_unique<Windows>(sources, windows_of_requests(*sources.windows));
              },
              "the capture marks no requests; a range of the name request does"};
  table.columns.push_back(
      column<Windows>("first_token_ns", kInteger, "ns", "from its start to the end of its first prefill; NULL: it has none on its thread",
                      [](const Windows& all, std::size_t row) {
                        const Window* prefill = all.first_inside(row, StageKind::kPrefill);
                        return prefill != nullptr ? Value::of(prefill->end_ns - all.window(row).start_ns) : Value::null();
                      }));
  return table;
}

}  // namespace nl::query
