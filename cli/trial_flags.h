#pragma once

#include <string>
#include <vector>

#include "runs/trial/trial.h"

namespace CLI {
class App;
}

namespace nl::cli {

// What `try` and `bisect` share.
struct TrialFlags {
  int rounds = 20, warmup = 1;
  std::string budget, out, profile = "light", model;
  std::vector<std::string> sets, outputs;
  double minimum_effect = 1, tolerance = 0;
  bool json = false, quiet = false, no_profile = false;
};

void add_trial_flags(CLI::App& verb, TrialFlags& flags);
runs::TrialRequest trial_request(const TrialFlags& flags);

// A line of a shell, as one command.
std::vector<std::string> shell_command(const std::string& line);

// "KEY=VALUE" → key and value; Error(kUsage) where there is no "=".
std::map<std::string, std::string> variables_of(const std::vector<std::string>& words, const char* flag);

void print_verdict(const Comparison& comparison);  // a line
void print_outputs(const runs::OutputAgreement& outputs);

}  // namespace nl::cli
