#pragma once

#include <ctime>

#include <pthread.h>

namespace nl::collector {

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

// A lock that may be refused: at once, because the program must not wait for the collector, or after some seconds, because
// the program must be able to end.
class AskedLock {
 public:
  explicit AskedLock(pthread_mutex_t& mutex, int seconds = 0) : mutex_(mutex) {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    held_ = (seconds == 0 ? pthread_mutex_trylock(&mutex_) : pthread_mutex_timedlock(&mutex_, &until)) == 0;
  }
  ~AskedLock() {
    if (held_) pthread_mutex_unlock(&mutex_);
  }
  AskedLock(const AskedLock&) = delete;
  AskedLock& operator=(const AskedLock&) = delete;
  explicit operator bool() const { return held_; }

 private:
  pthread_mutex_t& mutex_;
  bool held_ = false;
};

inline constexpr int kPatienceSeconds = 5;  // at the program's end

}  // namespace nl::collector
