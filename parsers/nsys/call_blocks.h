#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include <sys/mman.h>

#include "model/trace.h"

namespace nl::parsers {

// API calls that are gathered before it is known how many there are. Never moves what is there, and while it is
// drained gives the memory back block by block: straight to the system, because the allocator would keep
// it and the calls would be in memory twice.
class CallBlocks {
 public:
  void push_back(const ApiCall& call) {
    if (few_.size() < kFew) {
      few_.push_back(call);
      return;
    }
    if (used_ == kBlock || blocks_.empty()) add_block();
    blocks_.back().get()[used_++] = call;
  }
  std::size_t size() const { return few_.size() + (blocks_.empty() ? 0 : (blocks_.size() - 1) * kBlock + used_); }

  template <typename Visit>
  void drain(Visit visit) {
    for (const ApiCall& call : few_) visit(call);
    for (auto& block : blocks_) {
      std::size_t count = &block == &blocks_.back() ? used_ : kBlock;
      for (std::size_t i = 0; i < count; ++i) visit(block.get()[i]);
      block.reset();
    }
    *this = CallBlocks();
  }

 private:
  static constexpr std::size_t kFew = 1024;  // most threads have no more
  static constexpr std::size_t kBlock = 32768;
  struct Unmap {
    void operator()(ApiCall* calls) const { ::munmap(calls, kBlock * sizeof(ApiCall)); }
  };

  void add_block() {
    void* memory = ::mmap(nullptr, kBlock * sizeof(ApiCall), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    blocks_.emplace_back(static_cast<ApiCall*>(memory));
    used_ = 0;
  }

  std::vector<ApiCall> few_;
  std::vector<std::unique_ptr<ApiCall, Unmap>> blocks_;
  std::size_t used_ = 0;  // of the last block
};

}  // namespace nl::parsers
