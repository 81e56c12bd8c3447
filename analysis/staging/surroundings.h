#pragma once

#include <cstdint>
#include <vector>

#include "analysis/staging/iterations.h"
#include "analysis/staging/stage_table.h"
#include "analysis/staging/windows.h"
#include "analysis/trace/range_index.h"
#include "model/trace.h"

namespace nl::analysis {

// The ranges and stages around an API call, each once. A thread without stages of its own (autograd's, a loader's) works for those of its
// process: its call lies in the stages that are open on the one thread that has any open then; where several have, in none.
struct Surroundings {
  std::vector<std::uint32_t> groups;
  std::vector<std::uint32_t> stages;  // without those of warm-up iterations
  std::uint32_t top_stage = kNone;    // of the outermost stage range, warm-up or not
  bool chosen = false;
};

// Calls between the same two range boundaries of a thread have the same surroundings, and calls come in
// long runs: each thread remembers its last answer.
class SurroundingsCache {
 public:
  SurroundingsCache(const Trace& trace, const StageTable& table, const IterationPlan& plan, const std::vector<Window>& windows,
                    const std::vector<std::uint32_t>& chosen);

  const Surroundings& of(std::uint32_t api) {
    if (api >= trace_.api_calls.size()) return nowhere_;
    const ApiCall& call = trace_.api_calls[api];
    if (call.thread >= threads_.size()) return nowhere_;
    ThreadState& thread = threads_[call.thread];
    if (thread.boundaries.empty()) return nowhere_;
    if (call.start_ns > thread.from_ns && call.end_ns() < thread.to_ns) return thread.last;
    return look_up(call, thread);
  }

 private:
  struct ThreadState {
    std::vector<Ns> boundaries;          // starts and ends of its ranges
    std::vector<const Window*> derived;  // measured decode windows without ranges of their own, by start
    std::vector<std::uint32_t> owners;   // threads whose stages it works for
    Ns from_ns = 0, to_ns = 0;           // `last` holds strictly between these; nothing lies between equal ones
    Surroundings last;
  };

  const Surroundings& look_up(const ApiCall& call, ThreadState& thread);
  void find_owners();
  bool add_stages(const ApiCall& call, std::uint32_t of_thread, Surroundings& out);  // true: any is open

  const Trace& trace_;
  const StageTable& table_;
  const IterationPlan& plan_;
  RangeIndex index_;
  std::vector<ThreadState> threads_;
  std::vector<char> chosen_;
  std::vector<std::uint32_t> ranges_;
  const Surroundings nowhere_;
};

}  // namespace nl::analysis
