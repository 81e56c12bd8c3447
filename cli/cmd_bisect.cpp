#include <fstream>

#include "cli/exit_status.h"
#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/trial_flags.h"
#include "cli/verbs.h"
#include "cli/workload_words.h"
#include "exporters/report/compare/compare.h"
#include "model/comparison.h"
#include "model/error_code.h"
#include "orchestrator/bundle/bundle.h"
#include "runs/bisect/bisect.h"

namespace nl::cli {
namespace {

using runs::BisectEnd, runs::BisectRequest, runs::BisectResult, runs::Candidate, runs::CommitRange;

struct BisectFlags : TrialFlags {
  std::string good, bad, build, commands;
  bool keep_trees = false;
};

// One a line, the good one first; empty lines and those that begin with # are left out.
std::vector<Candidate> candidates_in(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw CodedError(ErrorCode::kNoSuchFile, "the file cannot be read", file, "give a file with a command a line");
  std::vector<Candidate> candidates;
  std::vector<std::size_t> lines;
  std::size_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    candidates.push_back({line, {shell_command(line), {}, {}, {}}});
    lines.push_back(number);
  }
  runs::number_repeated(candidates, lines);
  return candidates;
}

int status_of(const BisectResult& result) {
  if (result.interrupt_signal != 0) return 128 + result.interrupt_signal;
  switch (result.end) {
    case BisectEnd::kFound: return 0;
    case BisectEnd::kFailed: return exit_status_of(ErrorKind::kWorkload);
    default: return kNotMetStatus;
  }
}

std::string conclusion(const BisectRequest& request, const BisectResult& result) {
  const auto name = [&](std::size_t candidate) { return request.candidates[candidate].name; };
  switch (result.end) {
    case BisectEnd::kFound: return fmt::format("{} is the first bad one.", name(result.first_bad));
    case BisectEnd::kNoRegression: return fmt::format("{} is not slower than {}.", name(result.first_bad), name(result.last_good));
    case BisectEnd::kUndecided:
      if (!runs::is_told_bad(result))
        return fmt::format("Whether {} is slower than {} is undecided; more --rounds may decide it.", name(result.first_bad),
                           name(result.last_good));
      return fmt::format("It lies after {}, up to {}; what is between is undecided.", name(result.last_good), name(result.first_bad));
    case BisectEnd::kFailed:
      return fmt::format("{} could not be tried: {}.", name(result.first_bad), result.steps.empty() ? "" : result.steps.back().trouble);
    case BisectEnd::kInterrupted:
      return fmt::format("Interrupted; it lies after {}, up to {}.", name(result.last_good), name(result.first_bad));
  }
  return {};
}

// What was tried and did not tell, on the way to whatever was found.
void print_skipped(const BisectRequest& request, const BisectResult& result) {
  for (const runs::BisectStep& step : result.steps)
    if (step.verdict == CompareVerdict::kUndecidable && step.candidate != result.first_bad)
      write_out("{} {}.\n", request.candidates[step.candidate].name,
                step.trouble.empty() ? "stays undecided: neither good nor bad" : "was skipped: " + step.trouble);
}

void print(const BisectRequest& request, const BisectResult& result) {
  write_paragraph(conclusion(request, result));
  print_skipped(request, result);
  if (!result.change) return;
  if (result.change->verdict != CompareVerdict::kRegressed)
    write_out("Against {} alone it is {}: the slow-down is gradual, or near the noise.\n", request.candidates[result.last_good].name,
              key_of(result.change->verdict));
  for (const std::string& sentence : exporters::comparison_sentences(*result.change, exporters::MoreRuns::kRounds))
    write_paragraph(sentence);
  write_out("\n");
  write_path(request.out / "change" / "compare.html");
  write_out("\n");
}

int bisect(const BisectFlags& flags) {
  BisectRequest request;
  request.trial = trial_request(flags);
  request.out = orchestrator::results_folder(flags.out, "bisect");
  request.say = request.trial.say;
  const CommitRange range{{}, flags.good, flags.bad, workload_given(), flags.build, request.out / "trees"};
  if (flags.commands.empty() && range.command.empty())
    throw Error(ErrorKind::kUsage, "there is no command", "bisect", "give it last, with --good and --bad; or --commands FILE");
  if (!flags.commands.empty() && !range.command.empty())
    throw Error(ErrorKind::kUsage, "there is a command beside --commands", range.command.front(), "give one of them");
  request.candidates = flags.commands.empty() ? commits_between(range) : candidates_in(flags.commands);
  if (flags.commands.empty()) request.prepare = [&](const Candidate& candidate) { prepare_commit(range, candidate); };
  orchestrator::ProcessLauncher launcher;
  const BisectResult result = runs::run_bisect(request, launcher);
  if (flags.commands.empty() && !flags.keep_trees) remove_trees(range);
  if (flags.json) write_data(runs::bisect_json(request, result));
  else print(request, result);
  std::fflush(stdout);
  return status_of(result);
}

}  // namespace

void add_bisect(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<BisectFlags>();
  CLI::App* verb = app.add_subcommand("bisect", "Find the first of several commits or commands that is slower, and what changed in it");
  CLI::Option* good = verb->add_option("--good", flags->good, "a commit that is fast")->type_name("REVISION");
  CLI::Option* bad = verb->add_option("--bad", flags->bad, "a later one that is slow")->type_name("REVISION");
  verb->add_option("--build", flags->build, "a line of a shell that makes a commit ready, in its working tree")
      ->type_name("COMMAND")
      ->needs(good);
  CLI::Option* commands =
      verb->add_option("--commands", flags->commands, "instead of commits: a file with a command a line, the good one first")
          ->type_name("FILE");
  good->needs(bad)->excludes(commands);
  bad->needs(good)->excludes(commands);
  verb->add_flag("--keep-trees", flags->keep_trees, "leave the working trees of the commits");
  add_trial_flags(*verb, *flags);
  take_workload(*verb, "what is tried in each commit: all from the first word that is no flag, or after --");
  verb->footer(
      "Each candidate is tried against the good one as `nl-stage try` does it. Commits that cannot be built or tried are skipped. The last "
      "trial,\n"
      "of the first bad one against the one before it, is profiled. Your working tree is not touched.\n"
      "Examples:\n"
      "  nl-stage bisect --good v1.2 --bad HEAD --build \"make -j8\" ./bench\n"
      "  nl-stage bisect --commands candidates.txt --budget 20m");
  verb->callback([flags, &action] { action = [flags] { return bisect(*flags); }; });
}

}  // namespace nl::cli
