#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <set>

#include "model/ranks.h"

namespace nl::orchestrator {

// Which ranks launchers (torchrun, mpirun, srun) tell the processes that this one starts, as their environment says. Of no other variable anything
// is kept.
class RankWatch {
 public:
  // Often at first, then every few seconds: ranks are started early and live long.
  void look_if_due(const std::set<pid_t>& excluded);
  void look(const std::set<pid_t>& excluded);
  std::map<pid_t, RankFacts> take() { return std::move(ranks_); }

 private:
  std::map<pid_t, RankFacts> ranks_;
  std::chrono::steady_clock::time_point looked_ = {};
  std::chrono::duration<double> wait_{0};
};

}  // namespace nl::orchestrator
