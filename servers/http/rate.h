#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace nl::servers::http {

// How many requests a client may make: so many a second, and twice as many at once. May be used by several threads.
class RateLimit {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RateLimit(double per_second) : per_second_(per_second) {}  // 0: any number

  // Nothing is left: false. Clients of one /64 of IPv6 are one client.
  bool allows(const std::string& client, Clock::time_point now = Clock::now());

 private:
  struct Left {
    double requests = 0;
    Clock::time_point at;
  };
  void forget_idle(Clock::time_point now);

  double per_second_;
  std::mutex mutex_;
  std::map<std::string, Left> clients_;
};

}  // namespace nl::servers::http
