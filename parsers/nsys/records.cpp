#include "parsers/nsys/records.h"

namespace nl::parsers {

std::uint32_t NsysPlaces::process(std::int64_t global_pid) {
  auto [found, added] = processes_.try_emplace(global_pid, static_cast<std::uint32_t>(trace_.processes.size()));
  if (added) {
    trace_.processes.push_back({static_cast<std::uint32_t>(global_pid >> 24 & 0xFFFFFF), {}});
    global_pids_.push_back(global_pid);
  }
  return found->second;
}

std::uint32_t NsysPlaces::thread(std::int64_t global_tid) {
  auto [found, added] = threads_.try_emplace(global_tid, static_cast<std::uint32_t>(trace_.threads.size()));
  if (added) {
    trace_.threads.push_back({process(process_part(global_tid)), static_cast<std::uint32_t>(global_tid & 0xFFFFFF), {}});
    global_tids_.push_back(global_tid);
  }
  return found->second;
}

std::uint32_t NsysPlaces::queue(const RawQueue& raw) {
  Queue queue{raw.global_pid == kNoProcess ? kNone : process(raw.global_pid), raw.device, raw.context, raw.stream};
  auto [found, added] = queues_.try_emplace(queue, static_cast<std::uint32_t>(trace_.queues.size()));
  if (added) trace_.queues.push_back(queue);
  return found->second;
}

}  // namespace nl::parsers
