#pragma once

#include <ctime>

#include "model/time.h"

namespace nl::orchestrator {

inline Ns clock_now_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return Ns{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace nl::orchestrator
