#include "parsers/trace_places.h"

namespace nl::parsers {
namespace {

template <typename Key>
std::pair<std::uint32_t, bool> number_of(std::map<Key, std::uint32_t>& known, const Key& key) {
  const auto [found, added] = known.try_emplace(key, static_cast<std::uint32_t>(known.size()));
  return {found->second, added};
}

}  // namespace

std::uint32_t TracePlaces::thread(std::int64_t pid, std::int64_t tid) {
  const Place place(pid, tid);
  if (last_thread_ != kNone && place == last_place_) return last_thread_;
  const auto [process, new_process] = number_of(processes_, pid);
  if (new_process) trace_.processes.push_back({static_cast<std::uint32_t>(pid), {}});
  const auto [thread, new_thread] = number_of(threads_, place);
  if (new_thread) trace_.threads.push_back({process, static_cast<std::uint32_t>(tid), {}});
  last_place_ = place;
  return last_thread_ = thread;
}

std::uint32_t TracePlaces::queue(std::int64_t device, std::int64_t context, std::int64_t stream) {
  Queue queue;
  queue.device = static_cast<std::int32_t>(device);
  queue.context = static_cast<std::uint32_t>(context);
  queue.stream = static_cast<std::uint32_t>(stream);
  const auto [number, added] = number_of(queues_, queue);
  if (added) trace_.queues.push_back(queue);
  return number;
}

std::uint32_t TracePlaces::shape(const KernelShape& shape) {
  const auto [number, added] = number_of(shapes_, shape);
  if (added) trace_.shapes.push_back(shape);
  return number;
}

void TracePlaces::name(std::int64_t pid, std::optional<std::int64_t> tid, std::string_view name) {
  if (tid) thread_names_[{pid, *tid}] = name;
  else process_names_[pid] = name;
}

void TracePlaces::finish() {
  for (const auto& [pid, index] : processes_)
    if (const auto name = process_names_.find(pid); name != process_names_.end()) trace_.processes[index].name = name->second;
  for (const auto& [place, index] : threads_)
    if (const auto name = thread_names_.find(place); name != thread_names_.end()) trace_.threads[index].name = name->second;
  // Work does not say whose it is; such a trace is of one process nearly always.
  if (trace_.processes.size() == 1)
    for (Queue& queue : trace_.queues) queue.process = 0;
}

}  // namespace nl::parsers
