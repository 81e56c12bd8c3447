#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <thread>
#include <vector>

namespace nl::orchestrator {

// work(0) … work(count - 1), as many at a time as there are processors, in that order of their beginning. Returns when all are done, and throws what
// one of them did.
template <class Work>
void each_in_parallel(std::size_t count, Work work) {
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    for (std::size_t i; (i = next++) < count;) work(i);
  };
  std::vector<std::future<void>> others;
  for (unsigned i = 1; i < std::min<std::size_t>(std::thread::hardware_concurrency(), count); ++i)
    others.push_back(std::async(std::launch::async, take));
  take();
  for (auto& other : others) other.get();
}

}  // namespace nl::orchestrator
