#include "runs/queue/run_watch.h"

#include <algorithm>

#include "orchestrator/process/tree.h"

namespace nl::runs {
namespace {

constexpr double kLeastProcessorShare = 0.01;  // of one processor: less is only waiting for something in a loop

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

bool contains(const std::vector<int>& list, int pid) { return std::find(list.begin(), list.end(), pid) != list.end(); }

}  // namespace

RunWatch::RunWatch(std::filesystem::path log, double stall_s, double look_s, GpuActivity* gpu)
    : log_(std::move(log)), stall_s_(stall_s), look_s_(look_s), gpu_(gpu) {}

bool RunWatch::must_end() {
  const auto now = Clock::now();
  if (stalled_ || seconds_between(looked_, now) < look_s_) return stalled_;
  looked_ = now;
  const auto tree = descendants();
  std::vector<int> own;
  for (const TreeProcess& process : tree) own.push_back(process.pid);
  const GpuReading reading = gpu_ != nullptr ? gpu_->read() : GpuReading{};
  if (gpu_ != nullptr && gpu_->names_processes()) look_for_intruders(reading, own);
  if (gets_on(reading, processor_seconds(tree))) got_on_ = now;
  return stalled_ = stall_s_ > 0 && seconds_between(got_on_, now) > stall_s_;
}

// Twice in a row: a process of ours that has just ended is on the GPU's list a little longer than in the tree.
void RunWatch::look_for_intruders(const GpuReading& reading, const std::vector<int>& own) {
  std::vector<int> others;
  for (const int pid : reading.processes) {
    if (contains(own, pid)) continue;
    others.push_back(pid);
    if (contains(seen_before_, pid) && !contains(intruders_, pid)) intruders_.push_back(pid);
  }
  seen_before_ = std::move(others);
}

bool RunWatch::gets_on(const GpuReading& reading, double processor_s) {
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(log_, failed);
  const bool wrote = !failed && bytes != log_bytes_;
  if (wrote) log_bytes_ = bytes;
  // Less than before: a process of the tree has come to its end.
  const bool computed = processor_s < processor_s_ || processor_s - processor_s_ > kLeastProcessorShare * stall_s_;
  if (computed) processor_s_ = processor_s;
  return wrote || computed || reading.utilisation.value_or(0) > 0;
}

}  // namespace nl::runs
