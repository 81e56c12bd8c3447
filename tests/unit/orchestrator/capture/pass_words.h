#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/run.h"
#include "model/words.h"
#include "orchestrator/capture/plan.h"
#include "orchestrator/config/config.h"
#include "tests/unit/remark_texts.h"

// Plans and what became of their passes, in few words.
namespace nl::test {

using Words = std::vector<std::string>;

// Without the unprofiled passes beside.
inline orchestrator::Config config_for(Words command) {
  orchestrator::Config config;
  config.workload.command = std::move(command);
  config.perturbation.repeats = 0;
  return config;
}

// "nsys ok", "ncu failed"
inline Words outcomes_of(const std::vector<PassRecord>& records) {
  Words words;
  for (const auto& record : records) words.push_back(std::string(key_of(record.kind)) + " " + std::string(key_of(record.outcome)));
  return words;
}

inline Words names_of(const orchestrator::Plan& plan) {
  Words names;
  for (const auto& pass : plan.passes) names.emplace_back(key_of(pass.kind));
  return names;
}

}  // namespace nl::test
