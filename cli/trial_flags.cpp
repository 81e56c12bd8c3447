#include "cli/trial_flags.h"

#include <CLI/CLI.hpp>

#include <cstdio>

#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/value_checks.h"
#include "exporters/report/text/figure_text.h"
#include "model/comparison.h"
#include "model/error.h"

namespace nl::cli {

void add_trial_flags(CLI::App& verb, TrialFlags& flags) {
  verb.add_option("--rounds", flags.rounds, "each side at most so often")->capture_default_str()->check(between(1, 1000))->type_name("N");
  verb.add_option("--warmup", flags.warmup, "rounds before, which do not count")
      ->capture_default_str()
      ->check(between(0, 100))
      ->type_name("N");
  verb.add_option("--budget", flags.budget, "time for everything, such as 5m")->type_name("TIME");
  verb.add_option("--minimum-effect", flags.minimum_effect, "percent: the smallest effect that counts")
      ->capture_default_str()
      ->check(between(0.0, 100.0));
  verb.add_option("--profile", flags.profile, "runner of the one profiled run a side that names the cause")
      ->capture_default_str()
      ->type_name("RUNNER");
  verb.add_flag("--no-profile", flags.no_profile, "times alone");
  verb.add_option("--output", flags.outputs, "a file that the command writes, to be compared; repeatable")
      ->allow_extra_args(false)
      ->type_name("FILE");
  verb.add_option("--tolerance", flags.tolerance, "of numbers in .npy and .npz outputs and in printed lines, relative")
      ->capture_default_str()
      ->check(not_negative());
  verb.add_option("--model", flags.model, "as for run")->type_name("MODEL");
  verb.add_option("--set", flags.sets, "set one key for both sides; repeatable")->allow_extra_args(false)->type_name("KEY=VALUE");
  verb.add_option("-o,--out", flags.out, "folder of the results, new or empty; default: a new one in artifacts")->type_name("DIR");
  verb.add_flag("--quiet", flags.quiet, "no line for each round");
  verb.add_flag("--json", flags.json, "print the result as JSON on stdout");
}

runs::TrialRequest trial_request(const TrialFlags& flags) {
  runs::TrialRequest request;
  request.sets = flags.sets;
  request.model = flags.model;
  request.profile = flags.no_profile ? "" : flags.profile;
  request.rounds = flags.rounds;
  request.warmup = flags.warmup;
  request.budget_s = flags.budget.empty() ? 0 : seconds_of(flags.budget);
  request.minimum_effect = flags.minimum_effect / 100;
  request.outputs = flags.outputs;
  request.tolerance = flags.tolerance;
  if (!flags.quiet) request.say = [](const std::string& line) { write_err("{}\n", line); };
  return request;
}

std::vector<std::string> shell_command(const std::string& line) { return {"/bin/sh", "-c", line}; }

std::map<std::string, std::string> variables_of(const std::vector<std::string>& words, const char* flag) {
  std::map<std::string, std::string> variables;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorKind::kUsage, "'" + word + "' sets no variable", flag, "write NAME=VALUE");
    variables[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return variables;
}

void print_verdict(const Comparison& comparison) {
  const auto colour = [&] {
    switch (comparison.verdict) {
      case CompareVerdict::kImproved: return Colour::kGreen;
      case CompareVerdict::kRegressed: return Colour::kRed;
      default: return Colour::kNone;
    }
  }();
  write_text(key_of(comparison.verdict), stdout, colour);
  write_out("\n");
}

void print_outputs(const runs::OutputAgreement& outputs) {
  using exporters::plural;
  using runs::OutputVerdict;
  const std::string what =
      plural(outputs.lines, "line") + (outputs.files > 0 ? " and " + plural(outputs.files, "file") : "") +
      (outputs.varying > 0 ? "; " + plural(outputs.varying, "line differs", "lines differ") + " from round to round" : "");
  switch (outputs.verdict) {
    case OutputVerdict::kNotCompared: return write_out("outputs: nothing to compare\n");
    case OutputVerdict::kSame: return write_out("outputs: the same ({})\n", what);
    case OutputVerdict::kWithinTolerance: return write_out("outputs: the same within the tolerance ({})\n", what);
    case OutputVerdict::kDifferent: return write_out("outputs: different: {}\n", outputs.first_difference);
  }
}

}  // namespace nl::cli
