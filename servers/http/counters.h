#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

namespace nl::servers::http {

// What the server counts of itself, for /metrics.
class Counters {
 public:
  using Key = std::tuple<std::string, std::string, int>;  // the route's path, method, status
  struct Sum {
    std::uint64_t requests = 0;
    double seconds = 0;
  };

  void add(const std::string& path, const std::string& method, int status, double seconds) {
    const std::lock_guard lock(mutex_);
    Sum& sum = sums_[{path, method, status}];
    sum.requests += 1;
    sum.seconds += seconds;
  }
  std::map<Key, Sum> sums() const {
    const std::lock_guard lock(mutex_);
    return sums_;
  }

  std::atomic<std::uint64_t> connections{0}, open_connections{0}, refused_connections{0}, timed_out{0};

 private:
  mutable std::mutex mutex_;
  std::map<Key, Sum> sums_;
};

}  // namespace nl::servers::http
