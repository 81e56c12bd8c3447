#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/run.h"
#include "model/words.h"
#include "orchestrator/capture/pass_runner.h"
#include "orchestrator/capture/plan.h"
#include "orchestrator/config/config.h"
#include "tests/unit/remark_texts.h"

// Plans and what became of their passes, in few words.
namespace nl::test {

using WordList = std::vector<std::string>;

// Without the unprofiled passes beside, and without the marks, which have tests of their own.
inline orchestrator::Config config_for(WordList command) {
  orchestrator::Config config;
  config.workload.command = std::move(command);
  config.perturbation.repeats = 0;
  config.mark.automatic = false;
  return config;
}

// A machine with a GPU and everything to capture with.
inline orchestrator::Toolset all_tools() {
  orchestrator::Toolset tools;
  tools.nsys.emplace().path = "/opt/nsys";
  tools.ncu.emplace().path = "/opt/ncu";
  tools.gpus = {"NVIDIA H200"};
  tools.collector = "/lib/libnl_collector.so";
  return tools;
}

// "nsys ok", "ncu failed"
inline WordList outcomes_of(const std::vector<PassRecord>& records) {
  WordList words;
  for (const auto& record : records) words.push_back(std::string(key_of(record.kind)) + " " + std::string(key_of(record.outcome)));
  return words;
}

// "nsys failed 3 [nsys/run.nsys-rep] the workload ended with status 3"
inline WordList whole_records(const std::vector<PassRecord>& records) {
  WordList words;
  for (const auto& record : records)
    words.push_back(fmt::format("{} {} {} [{}]{}", key_of(record.kind), key_of(record.outcome),
                                record.exit_status ? std::to_string(*record.exit_status) : "-", fmt::join(record.outputs, " "),
                                record.detail.empty() ? "" : " " + record.detail));
  return words;
}

// "nsys-killed: nsys was killed by signal 9. | nsys"
inline WordList whole_problems(const std::vector<Problem>& problems) {
  WordList words;
  for (const auto& problem : problems) words.push_back(fmt::format("{}: {} | {}", key_of(problem.code), problem.what, problem.where));
  return words;
}

// Plays each process by what the test says of it; one that it says nothing of ends well.
struct PlayedLauncher : orchestrator::Launcher {
  using Play = std::function<void(const orchestrator::ProcessSpec& process, orchestrator::ProcessResult& result)>;
  explicit PlayedLauncher(Play play_each) : play(std::move(play_each)) {}
  orchestrator::ProcessResult launch(const orchestrator::ProcessSpec& process) override {
    started.push_back(process);
    orchestrator::ProcessResult result;
    if (play) play(process, result);
    return result;
  }
  Play play;
  std::vector<orchestrator::ProcessSpec> started;
};

inline WordList names_of(const orchestrator::Plan& plan) {
  WordList names;
  for (const auto& pass : plan.passes) names.emplace_back(key_of(pass.kind));
  return names;
}

}  // namespace nl::test
