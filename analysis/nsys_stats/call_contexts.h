#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "model/trace.h"

namespace nl::analysis {

// Of each call, by process and correlation, a number that says which ranges enclose it. Correlations are nearly consecutive: a call takes four bytes.
class CallContexts {
 public:
  static constexpr std::uint32_t kUnknown = 0x7FFFFFFF;

  // Of calls of one correlation the first counts.
  void put(std::uint32_t process, std::uint32_t correlation, std::uint32_t context) {
    std::uint32_t& slot = block(process, correlation / kBlock)[correlation % kBlock];
    if (slot == kUnknown) slot = context;
  }
  // visit(context) for each call that was marked as one that launched work.
  template <class Visit>
  void each_launch(Visit visit) const {
    for (const auto& blocks : by_process_)
      for (const auto& [number, slots] : blocks)
        for (const std::uint32_t slot : *slots)
          if (slot & kLaunched) visit(slot & ~kLaunched);
  }

 private:
  friend class ContextFinder;
  static constexpr std::uint32_t kBlock = 256, kLaunched = 0x80000000;
  using Block = std::array<std::uint32_t, kBlock>;

  Block& block(std::uint32_t process, std::uint32_t number);

  // Blocks are made many at once: of a size that goes back to the system as soon as it is no longer needed.
  static constexpr std::size_t kMadeAtOnce = 128;
  std::vector<std::unique_ptr<Block[]>> made_;
  std::size_t used_ = kMadeAtOnce;  // of the last ones
  std::vector<std::unordered_map<std::uint32_t, Block*>> by_process_;
  Block* last_ = nullptr;
  std::uint32_t last_process_ = 0, last_number_ = 0;
};

// Looks calls up in what several threads met of them, the first of these first. One thread's.
class ContextFinder {
 public:
  explicit ContextFinder(const std::vector<CallContexts*>& parts) : parts_(parts), last_(parts.size()) {}
  // The context of the call, which is marked as one that launched work; kUnknown where there is no such call. Several threads may mark one call.
  std::uint32_t launching(std::uint32_t process, std::uint32_t correlation);

 private:
  struct Last {
    std::uint32_t process = kNone, number = 0;
    CallContexts::Block* block = nullptr;
  };
  const std::vector<CallContexts*>& parts_;
  std::vector<Last> last_;  // by part
};

}  // namespace nl::analysis
