#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/runs/compare/compare.h"
#include "exporters/report/compare/compare.h"
#include "model/comparison.h"
#include "orchestrator/run.h"
#include "runs/orchestrator_names.h"
#include "runs/trial/outputs.h"
#include "runs/trial/predicted.h"

// `try`: two commands against each other, in turns, until it is decided whether they differ.
namespace nl::runs {

struct TrialSide {
  std::vector<std::string> command;
  std::string working_directory = {};           // empty: where nl-stage was started
  std::map<std::string, std::string> env = {};  // besides ours
  std::vector<std::string> sets = {};           // "model.batch=8"
};

struct TrialRequest {
  TrialSide a, b;
  std::vector<std::string> sets = {};  // of both
  std::string model = {};              // of both
  std::string profile = "light";       // runner of the one profiled run a side; empty: none
  int rounds = 20;                     // at most
  int warmup = 1;                      // rounds before, which do not count
  double budget_s = 0;                 // for everything; 0: no limit
  double minimum_effect = 0.01;
  std::vector<std::string> outputs = {};             // files that both write, relative to their folder
  double tolerance = 0;                              // of numbers in them and in what is printed, relative
  std::optional<std::uint64_t> seed = {};            // of the order of the rounds; nothing: by chance
  std::optional<AskedPrediction> predicted = {};     // that the outcome is held against
  std::string part_of = "try";                       // what the ledger calls its runs a part of
  std::filesystem::path out;                         // new or empty
  std::function<void(const std::string&)> say = {};  // progress, a line each
};

enum class TrialEnd { kDecided, kRounds, kBudget, kFailed, kInterrupted };

struct TrialRound {
  int number = 0;           // from 1; 0: warm-up
  double a_s = 0, b_s = 0;  // of the processes
  bool a_first = true;
};

// A prediction beside what came of it.
struct TrialPrediction {
  AskedPrediction asked;
  std::optional<PredictionPair> pair = {};  // empty: the trial did not end, or has no such stage
  LedgerRecord record = {};                 // of the pair
};

struct TrialResult {
  TrialEnd end = TrialEnd::kRounds;
  std::vector<TrialRound> rounds;
  std::uint64_t seed = 0;  // of their order
  Comparison comparison;   // times of the unprofiled rounds, causes of the profiled runs
  OutputAgreement outputs;
  std::optional<TrialPrediction> predicted = {};
  std::string trouble = {};        // what failed: the side, the round and why
  std::filesystem::path log = {};  // what it printed about that; empty: nothing failed
  std::filesystem::path folder;
  int interrupt_signal = 0;
};

// Leaves rounds/a-01 … and profile/a, profile/b (bundles), compare.json, compare.md, compare.html and trial.json. Throws Error for a wrong
// configuration, a program that is not there, and a folder that cannot be written.
TrialResult run_trial(const TrialRequest& request, Launcher& launcher);

// The rounds after which the verdict is computed. Each time gets a part of the significance level, so that computing it often does not
// find more by chance.
std::vector<int> looks_of(int rounds);

// Which side each round begins with, drawn for each: a disturbance in the rhythm of any pattern would look like a difference of the sides. A machine
// that becomes slower affects both sides of a round nearly alike, and what is left of that is taken out as a trend.
std::vector<bool> order_of_rounds(int rounds, std::uint64_t seed);

// "round 1 of at most 20: A 2.41 s, B 2.38 s"
std::string round_text(const TrialRound& round, int most);

// What would decide more: where the budget ended it, rounds alone are not enough.
exporters::MoreRuns more_runs_for(const TrialResult& result);

std::string trial_json(const TrialResult& result);

// What became of the prediction, for people; empty where none was asked for.
std::vector<std::string> predicted_sentences(const TrialResult& result);

}  // namespace nl::runs
