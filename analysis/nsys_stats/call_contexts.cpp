#include "analysis/nsys_stats/call_contexts.h"

#include <atomic>

namespace nl::analysis {

CallContexts::Block& CallContexts::block(std::uint32_t process, std::uint32_t number) {
  if (last_ != nullptr && last_process_ == process && last_number_ == number) return *last_;
  if (process >= by_process_.size()) by_process_.resize(process + 1);
  Block*& found = by_process_[process][number];
  if (found == nullptr) {
    if (used_ == kMadeAtOnce) {
      made_.emplace_back(new Block[kMadeAtOnce]);
      used_ = 0;
    }
    found = &made_.back()[used_++];
    found->fill(kUnknown);
  }
  last_ = found;
  last_process_ = process;
  last_number_ = number;
  return *last_;
}

std::uint32_t ContextFinder::launching(std::uint32_t process, std::uint32_t correlation) {
  if (process == kNone || correlation == kNone) return CallContexts::kUnknown;
  const std::uint32_t number = correlation / CallContexts::kBlock;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Last& last = last_[i];
    if (last.process != process || last.number != number) {
      last = {process, number, nullptr};
      if (const auto& all = parts_[i]->by_process_; process < all.size())
        if (const auto found = all[process].find(number); found != all[process].end()) last.block = found->second;
    }
    if (last.block == nullptr) continue;
    const std::atomic_ref<std::uint32_t> slot((*last.block)[correlation % CallContexts::kBlock]);
    const std::uint32_t value = slot.load(std::memory_order_relaxed);
    if (value == CallContexts::kUnknown) continue;
    if ((value & CallContexts::kLaunched) == 0) slot.store(value | CallContexts::kLaunched, std::memory_order_relaxed);
    return value & ~CallContexts::kLaunched;
  }
  return CallContexts::kUnknown;
}

}  // namespace nl::analysis
