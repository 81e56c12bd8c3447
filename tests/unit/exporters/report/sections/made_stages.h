#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/run.h"

// Runs of stages that are small enough to see where a sentence comes from.
namespace nl::test {

inline StageEntry window_of(const std::string& name, Ns each, std::uint64_t count = 1) {
  StageEntry out;
  out.name = name;
  const auto ns = static_cast<double>(each);
  out.wall = {count, each * static_cast<Ns>(count), ns, ns, each, each, each, 0};
  return out;
}

inline Run run_of(std::vector<StageEntry> stages) {
  Run run;
  run.stages = std::move(stages);
  return run;
}

}  // namespace nl::test
