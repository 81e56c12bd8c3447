#include "runs/suite/pair_outputs.h"

#include <fmt/format.h>

#include <algorithm>

namespace nl::runs {
namespace {

// Those of either half, else those of the suite.
std::vector<std::string> outputs_of(const Suite& suite, const TargetPair& pair) {
  std::vector<std::string> outputs;
  for (const std::size_t half : {pair.baseline, pair.optimised})
    for (const std::string& name : suite.targets[half].outputs)
      if (std::find(outputs.begin(), outputs.end(), name) == outputs.end()) outputs.push_back(name);
  return outputs.empty() ? suite.outputs : outputs;
}

OutputTolerance tolerance_of(const Suite& suite, const TargetPair& pair) {
  for (const std::size_t half : {pair.optimised, pair.baseline})
    if (suite.targets[half].tolerance) return *suite.targets[half].tolerance;
  return suite.tolerance;
}

std::vector<std::string> files_among(std::vector<std::string> outputs) {
  std::erase(outputs, kStandardOutput);
  return outputs;
}

std::vector<RoundOutput> rounds_of(const std::vector<TaskRecord>& tasks, std::size_t target, const std::vector<std::string>& outputs) {
  const bool printed = std::find(outputs.begin(), outputs.end(), kStandardOutput) != outputs.end();
  std::vector<RoundOutput> rounds;
  for (const TaskRecord& record : tasks) {
    if (record.task.target != target || record.task.profiled || record.outcome != TaskOutcome::kOk) continue;
    rounds.push_back(kept_output(record.bundle, files_among(outputs)));
    if (!printed) rounds.back().text.clear();
  }
  return rounds;
}

// What was asked for and neither half left, so that nothing of it was compared.
std::string missing_output(const std::vector<std::string>& outputs, const std::vector<RoundOutput>& a, const std::vector<RoundOutput>& b,
                           const OutputAgreement& agreement) {
  const std::vector<std::string> files = files_among(outputs);
  for (std::size_t i = 0; i < files.size(); ++i)
    if (a.back().files[i].empty() && b.back().files[i].empty()) return files[i] + " was written by neither";
  return files.size() < outputs.size() && agreement.lines == 0 ? "no line of the standard output could be compared" : "";
}

// "line 2: A prints …" names the sides of `try`; here they are the halves of the pair.
std::string with_names(std::string difference) {
  const auto replace = [&](const std::string& what, const std::string& by) {
    if (const std::size_t at = difference.find(what); at != std::string::npos) difference.replace(at, what.size(), by);
  };
  replace(": A prints ", ": the baseline prints ");
  replace(", B ", ", the optimised one ");
  replace("written by A alone", "written by the baseline alone");
  replace("written by B alone", "written by the optimised one alone");
  return difference;
}

}  // namespace

std::vector<std::string> output_files(const Suite& suite, std::size_t target) {
  std::vector<std::string> files;
  for (const TargetPair& pair : find_pairs(suite).pairs) {
    if (pair.baseline != target && pair.optimised != target) continue;
    for (const std::string& name : files_among(outputs_of(suite, pair)))
      if (std::find(files.begin(), files.end(), name) == files.end()) files.push_back(name);
  }
  return files;
}

void check_outputs(const Suite& suite, const std::vector<TaskRecord>& tasks, std::vector<PairResult>& pairs) {
  for (PairResult& pair : pairs) {
    const std::vector<std::string> outputs = outputs_of(suite, pair.pair);
    const auto baseline = rounds_of(tasks, pair.pair.baseline, outputs), optimised = rounds_of(tasks, pair.pair.optimised, outputs);
    if (outputs.empty() || baseline.empty() || optimised.empty()) continue;
    pair.outputs = compare_outputs(baseline, optimised, tolerance_of(suite, pair.pair));
    pair.outputs.first_difference = with_names(std::move(pair.outputs.first_difference));
    std::string trouble = pair.outputs.verdict == OutputVerdict::kDifferent ? "the outputs differ: " + pair.outputs.first_difference : "";
    if (trouble.empty()) trouble = missing_output(outputs, baseline, optimised, pair.outputs);
    if (trouble.empty()) continue;
    pair.verdict = PairVerdict::kFailed;
    pair.note = std::move(trouble);
  }
}

}  // namespace nl::runs
