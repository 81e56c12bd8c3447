#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/run.h"
#include "orchestrator/config/config.h"

// Plans and what became of their passes, in few words.
namespace nl::test {

using Words = std::vector<std::string>;

// Without the bare passes beside.
inline orchestrator::Config config_for(Words command) {
  orchestrator::Config config;
  config.workload.command = std::move(command);
  config.perturbation.repeats = 0;
  return config;
}

// "nsys ok", "ncu failed"
inline Words outcomes_of(const Run& run) {
  Words words;
  for (const auto& record : run.provenance.passes) words.push_back(record.name + " " + record.outcome);
  return words;
}

}  // namespace nl::test
