#include "orchestrator/finish.h"

#include <utility>

#include "model/words.h"
#include "orchestrator/bundle/files.h"
#include "orchestrator/capture/verdict.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"

namespace nl::orchestrator {
namespace {

Run analysed(const Evidence& evidence, const analysis::Knowledge& knowledge) {
  const Activity analysing("analysing");
  return analysis::analyse(evidence, knowledge);
}

// What came up after the analysis is for the run to say, too.
Run with_ending(Run run, const std::optional<Remark>& thinned) {
  if (thinned) run.provenance.adaptations.push_back(*thinned);
  if (Interrupts::signal() == 0 || gravest(run.problems) == ErrorKind::kInterrupted) return run;
  run.problems.push_back(problem_of(interruption(Interrupts::signal())));
  run.status = RunStatus::kInterrupted;  // graver than any other problem, whatever was captured
  return run;
}

RunResult result_of(Run run, const Bundle& bundle) {
  const auto failure = gravest(run.problems);
  return {std::move(run), bundle.path(), failure, failure == ErrorKind::kInterrupted ? Interrupts::signal() : 0, {}};
}

}  // namespace

std::string what_failed(const Run& run) {
  if (run.problems.empty()) return "the run did not end well";
  std::string text = run.problems[0].what;
  if (text.ends_with('.')) text.pop_back();
  return text;
}

RunResult conclude(const Evidence& evidence, const analysis::Knowledge& knowledge, const Config& config, const Bundle& bundle,
                   const RecordRun& record) {
  auto stats = write_stats(bundle, config, evidence.trace);
  Run run = analysed(evidence, knowledge);
  const auto thinned = write_trace_files(bundle, config, evidence, run);
  run = with_ending(std::move(run), thinned);
  stats.get();
  const std::string run_json = write_bundle(bundle, config, evidence, run);
  RunResult result = result_of(std::move(run), bundle);
  if (record) result.ledger = record(config.ledger, result.run, run_json, bundle.path());
  return result;
}

}  // namespace nl::orchestrator
