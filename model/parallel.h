#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <limits>
#include <thread>
#include <vector>

namespace nl {

// work(0) … work(count - 1), as many at a time as there are processors and at most `most`, in that order of their beginning. Returns when all are done,
// and throws what one of them did.
template <class Work>
void each_in_parallel(std::size_t count, Work work, std::size_t most = std::numeric_limits<std::size_t>::max()) {
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    for (std::size_t i; (i = next++) < count;) work(i);
  };
  std::vector<std::future<void>> others;
  const std::size_t at_once = std::min({std::size_t{std::thread::hardware_concurrency()}, count, most});
  for (std::size_t i = 1; i < at_once; ++i) others.push_back(std::async(std::launch::async, take));
  take();
  for (auto& other : others) other.get();
}

}  // namespace nl
