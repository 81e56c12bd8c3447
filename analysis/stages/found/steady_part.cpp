#include "analysis/stages/found/steady_part.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "analysis/attribution/api_kind.h"
#include "analysis/stages/windows.h"

namespace nl::analysis {
namespace {

constexpr double kLateShare = 0.01;  // of the kernel time: kernels that may come later
constexpr double kLeastLeft = 1.0 / 3;

struct Name {
  Ns first_start_ns = std::numeric_limits<Ns>::max(), first_end_ns = 0;
  Ns total_ns = 0;
};

struct ProcessWork {
  std::unordered_map<std::uint32_t, Name> names;  // of kernels
  Ns first_ns = std::numeric_limits<Ns>::max(), last_ns = std::numeric_limits<Ns>::min();
  Ns kernel_ns = 0;
  bool any() const { return last_ns >= first_ns; }

  void add(Ns start_ns, Ns end_ns) {
    first_ns = std::min(first_ns, start_ns);
    last_ns = std::max(last_ns, end_ns);
  }
  void add(std::uint32_t name, Ns start_ns, Ns end_ns) {
    add(start_ns, end_ns);
    Name& each = names[name];
    if (start_ns < each.first_start_ns) each.first_start_ns = start_ns, each.first_end_ns = end_ns;
    each.total_ns += end_ns - start_ns;
    kernel_ns += end_ns - start_ns;
  }

  // The end of the first run of the last kernel that matters.
  Ns warm_ns() const {
    std::vector<const Name*> order;
    for (const auto& [name, each] : names) order.push_back(&each);
    std::sort(order.begin(), order.end(), [](const Name* a, const Name* b) { return a->first_start_ns > b->first_start_ns; });
    double late_ns = 0;
    for (const Name* each : order) {
      late_ns += static_cast<double>(each->total_ns);
      if (late_ns > kLateShare * static_cast<double>(kernel_ns)) return each->first_end_ns;
    }
    return first_ns;
  }
};

std::uint32_t process_of(const Trace& trace, std::uint32_t queue) {
  return process_slot(trace, queue < trace.queues.size() ? trace.queues[queue].process : kNone);
}

std::vector<ProcessWork> collect_work(const Trace& trace) {
  std::vector<ProcessWork> processes(process_slots(trace));
  constexpr std::uint32_t kGraphs = kNone;  // whole graphs count as one kernel
  for (const Kernel& kernel : trace.kernels) {
    const std::uint32_t name = kernel.shape < trace.shapes.size() ? trace.shapes[kernel.shape].name.value : kNone - 1;
    processes[process_of(trace, static_cast<std::uint32_t>(kernel.queue))].add(name, kernel.start_ns, kernel.end_ns());
  }
  for (const GraphRun& run : trace.graph_runs) processes[process_of(trace, run.queue)].add(kGraphs, run.start_ns, run.end_ns);
  for (const MemOp& op : trace.mem_ops) processes[process_of(trace, op.queue)].add(op.start_ns, op.end_ns);
  return processes;
}

// By process: the thread with the most calls that launch.
std::vector<std::uint32_t> launching_threads(const Trace& trace) {
  std::vector<std::uint64_t> launches(trace.threads.size());
  ApiKinds kinds(trace);
  for (const ApiCall& call : trace.api_calls)
    if (call.thread < launches.size() && kinds.of(call).launches) ++launches[call.thread];
  std::vector<std::uint32_t> best(process_slots(trace), kNone);
  for (std::uint32_t thread = 0; thread < launches.size(); ++thread) {
    std::uint32_t& found = best[process_slot_of_thread(trace, thread)];
    if (launches[thread] > 0 && (found == kNone || launches[thread] > launches[found])) found = thread;
  }
  return best;
}

// Of a process, from one moment on.
struct Rest {
  Ns kernel_ns = 0;
  Ns launched_ns = std::numeric_limits<Ns>::max();  // the first launch of this work: a host that runs ahead makes it earlier
};

std::vector<Rest> work_since(const Trace& trace, const std::vector<Ns>& since) {
  std::vector<Rest> rest(since.size());
  const auto add = [&](std::uint32_t queue, Ns start_ns, Ns end_ns, std::uint32_t api) {
    const std::uint32_t process = process_of(trace, queue);
    if (start_ns < since[process]) return;
    rest[process].kernel_ns += end_ns - start_ns;
    const Ns launched_ns = api < trace.api_calls.size() ? trace.api_calls[api].start_ns : start_ns;
    rest[process].launched_ns = std::min(rest[process].launched_ns, launched_ns);
  };
  for (const Kernel& kernel : trace.kernels) add(static_cast<std::uint32_t>(kernel.queue), kernel.start_ns, kernel.end_ns(), kernel.api);
  for (const GraphRun& run : trace.graph_runs) add(run.queue, run.start_ns, run.end_ns, run.api);
  return rest;
}

}  // namespace

std::vector<SteadyPart> find_steady_parts(const Trace& trace) {
  const std::vector<ProcessWork> processes = collect_work(trace);
  const std::vector<std::uint32_t> threads = launching_threads(trace);
  std::vector<Ns> warm;
  for (const ProcessWork& process : processes) warm.push_back(process.any() ? process.warm_ns() : 0);
  const std::vector<Rest> rest = work_since(trace, warm);
  std::vector<SteadyPart> parts;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const ProcessWork& process = processes[i];
    if (!process.any() || process.last_ns == process.first_ns) continue;
    const bool enough = warm[i] > process.first_ns && static_cast<double>(rest[i].kernel_ns) >= kLeastLeft * static_cast<double>(process.kernel_ns);
    const Ns start_ns = enough ? std::min(warm[i], rest[i].launched_ns) : process.first_ns;
    parts.push_back({start_ns, process.last_ns, process.first_ns, threads[i], enough});
  }
  return parts;
}

}  // namespace nl::analysis
