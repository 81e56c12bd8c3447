#include "analysis/staging/found/found.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include "analysis/staging/found/sources.h"
#include "analysis/staging/stage_table.h"
#include "analysis/staging/windows.h"
#include "analysis/trace/api_kind.h"
#include "analysis/trace/gpu_order.h"
#include "model/words.h"

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
  void add_kernel(std::uint32_t name, Ns start_ns, Ns end_ns) {
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

// What tells one kernel from another; whole graphs count as one, and copies as none.
std::optional<std::uint32_t> name_of(const Trace& trace, const Kernel& kernel) {
  return kernel.shape < trace.shapes.size() ? trace.shapes[kernel.shape].name.value : kNone - 1;
}
std::optional<std::uint32_t> name_of(const Trace&, const GraphRun&) { return kNone; }
std::optional<std::uint32_t> name_of(const Trace&, const MemOp&) { return std::nullopt; }

std::vector<ProcessWork> collect_work(const Trace& trace) {
  std::vector<ProcessWork> processes(process_slots(trace));
  each_gpu_work(trace, [&](const auto& work) {
    ProcessWork& process = processes[process_slot_of_queue(trace, work.queue)];
    process.add(work.start_ns, end_of(work));
    if (const auto name = name_of(trace, work)) process.add_kernel(*name, work.start_ns, end_of(work));
  });
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

// The rest of a process, from one moment on.
struct Rest {
  Ns kernel_ns = 0;
  Ns launched_ns = std::numeric_limits<Ns>::max();  // the first launch of this work: a host that runs ahead makes it earlier
};

std::vector<Rest> work_since(const Trace& trace, const std::vector<Ns>& since) {
  std::vector<Rest> rest(since.size());
  each_gpu_work(trace, [&](const auto& work) {
    const std::uint32_t process = process_slot_of_queue(trace, work.queue);
    if (work.start_ns < since[process] || !name_of(trace, work)) return;
    rest[process].kernel_ns += end_of(work) - work.start_ns;
    const Ns launched_ns = work.api < trace.api_calls.size() ? trace.api_calls[work.api].start_ns : work.start_ns;
    rest[process].launched_ns = std::min(rest[process].launched_ns, launched_ns);
  });
  return rest;
}

std::string seconds(Ns time_ns) { return fmt::format("{:.3f} s", static_cast<double>(time_ns) / 1e9); }

void take_steady_parts(const Trace& trace, FoundStages& found) {
  found.origin = {StageSource::kInferred, 1};
  for (const SteadyPart& part : find_steady_parts(trace)) {
    found.stages.push_back({part.start_ns, part.end_ns, part.thread, std::string(key_of(StageKind::kCapture)), {}});
    found.notes.push_back({part.warmed_up ? Code::kSteadyPart : Code::kWholeCapture, {seconds(part.start_ns), seconds(part.end_ns)}});
  }
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
    const bool enough =
        warm[i] > process.first_ns && static_cast<double>(rest[i].kernel_ns) >= kLeastLeft * static_cast<double>(process.kernel_ns);
    const Ns start_ns = enough ? std::min(warm[i], rest[i].launched_ns) : process.first_ns;
    parts.push_back({start_ns, process.last_ns, process.first_ns, threads[i], enough});
  }
  return parts;
}

bool has_found_stages(const Trace& trace) {
  return std::any_of(trace.ranges.begin(), trace.ranges.end(),
                     [&](const Range& range) { return trace.strings[range.domain] == kStageDomain; });
}

FoundStages find_stages(const Trace& trace, const StageMap& map) {
  FoundStages mapped = stages_of_marks(trace);
  if (!mapped.stages.empty() || !StageTable(trace).stages().empty()) {  // it marks some itself
    if (!map.empty()) mapped.notes.push_back({Code::kMapNotUsed});
    return mapped;
  }
  if (!map.empty()) mapped = stages_of_map(trace, map);
  if (!mapped.stages.empty()) return mapped;
  FoundStages found = stages_of_engine(trace);
  const bool whole = find_first(trace.stats.notes, kCaptureIncomplete) == nullptr;  // the beginning is warm-up, or less
  if (found.stages.empty() && whole) found = infer_stages(trace);
  if (found.stages.empty()) take_steady_parts(trace, found);
  found.notes.insert(found.notes.begin(), mapped.notes.begin(), mapped.notes.end());
  return found;
}

void add_found_stages(Trace& trace, const StageMap& map) {
  if (has_found_stages(trace)) return;
  const std::vector<Remark> processes = notes_on_processes(trace);
  trace.stats.notes.insert(trace.stats.notes.end(), processes.begin(), processes.end());
  FoundStages found = find_stages(trace, map);
  trace.stats.notes.insert(trace.stats.notes.end(), found.notes.begin(), found.notes.end());
  if (found.stages.empty()) return;
  trace.stage_origin = found.origin;
  const StringId domain = trace.strings.intern(kStageDomain);
  for (const FoundStage& stage : found.stages) {
    Range range;
    range.start_ns = stage.start_ns;
    range.end_ns = stage.end_ns;
    range.name = trace.strings.intern(stage.name);
    range.domain = domain;
    range.thread = stage.thread;
    range.payload = stage.tokens;
    trace.ranges.push_back(range);
  }
}

}  // namespace nl::analysis
