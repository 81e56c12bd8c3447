#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/replay/interval_scale.h"
#include "analysis/what_if.h"
#include "cli/ledger_flags.h"
#include "cli/output.h"
#include "cli/value_checks.h"
#include "cli/verbs.h"
#include "exporters/whatif/record.h"
#include "exporters/whatif/whatif.h"
#include "model/error.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/config/config.h"
#include "orchestrator/import.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"
#include "orchestrator/run_captures.h"
#include "runs/ledger/find_run.h"
#include "runs/ledger/pairs.h"

namespace nl::cli {
namespace {

struct WhatIfFlags {
  std::string capture, stage, ledger;
  std::vector<std::string> sets;
  std::map<std::string, std::vector<std::string>, std::less<>> values;  // of the changes, by flag; empty where it stands alone
  double unprofiled_ms = 0;
  bool record = false, json = false;
};

std::vector<analysis::NamedChange> changes_of(const WhatIfFlags& flags) {
  std::vector<analysis::NamedChange> changes;
  for (const std::string_view flag : analysis::change_flags())
    if (const auto given = flags.values.find(flag); given != flags.values.end())
      for (const std::string& value : given->second) changes.push_back(analysis::change_of(std::string(flag), value));
  return changes;
}

std::optional<Run> recorded_run(const std::filesystem::path& place) {
  const std::filesystem::path file = place.filename() == "run.json" ? place : place / "run.json";
  if (!std::filesystem::is_regular_file(file)) return std::nullopt;
  try {
    return orchestrator::read_run(orchestrator::read_run_text(file), file);
  } catch (const Error&) {
    return std::nullopt;  // the captures are there all the same
  }
}

int what_if(const WhatIfFlags& flags) {
  const std::vector<analysis::NamedChange> changes = changes_of(flags);
  const orchestrator::Interrupts interrupts;
  orchestrator::ImportRequest request;
  request.config = orchestrator::load_config({.model_file = "", .sets = flags.sets});
  const std::filesystem::path place = runs::place_of(flags.capture, flags.ledger);
  orchestrator::add_captures_of(place, request);
  const std::optional<Run> recorded = recorded_run(place);
  orchestrator::ProcessLauncher launcher;
  WhatIf result;
  PredictionOrigin origin;
  const orchestrator::Activity replaying("replaying " + flags.capture);
  orchestrator::with_evidence(request, launcher, [&](const Evidence& evidence, const analysis::Knowledge& knowledge) {
    origin = runs::prediction_origin(evidence, flags.ledger);
    const auto unprofiled_ns = flags.unprofiled_ms > 0 ? std::optional(flags.unprofiled_ms * 1e6) : std::nullopt;
    result = analysis::what_if(evidence, knowledge,
                               {flags.stage, changes, recorded ? &*recorded : nullptr, origin.interval_scale, unprofiled_ns});
  });
  if (flags.json) write_data(exporters::whatif_json(result, origin));
  else write_text(is_terminal(stdout) ? exporters::whatif_text(result, origin, line_width()) : exporters::whatif_markdown(result, origin));
  return 0;
}

int print_pairs(const WhatIfFlags& flags) {
  runs::Ledger ledger = open_ledger(flags.ledger);
  const std::vector<PredictionRecord> records = analysis::prediction_records(ledger.pairs());
  const std::string& location = ledger.location();
  if (flags.json) write_data(exporters::record_json(records, location));
  else
    write_text(is_terminal(stdout) ? exporters::record_text(records, location, line_width())
                                   : exporters::record_markdown(records, location));
  return 0;
}

int predict_or_list(const WhatIfFlags& flags) {
  const bool predicts = !flags.capture.empty() || !changes_of(flags).empty();
  if (flags.record ? predicts : flags.capture.empty())
    throw Error(ErrorKind::kUsage, "whatif takes a run, or --record alone", "whatif", "nl-stage whatif RUN, or nl-stage whatif --record");
  return flags.record ? print_pairs(flags) : what_if(flags);
}

}  // namespace

void add_whatif(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<WhatIfFlags>();
  CLI::App* verb = app.add_subcommand("whatif", "Predict what a change would bring, by a replay of the capture");
  verb->add_option("capture", flags->capture, std::string(kRunOrCaptureHelp) + "; not with --record")->type_name("RUN");
  verb->add_option("--stage", flags->stage, "whose time is predicted; default: the unit of the program")->type_name("STAGE");
  const auto several = [&](const char* flag, const char* help, const char* type) {
    verb->add_option(flag, flags->values[flag], help)->allow_extra_args(false)->type_name(type);
  };
  several("--graph", "the launches of this stage become CUDA graphs; repeatable", "STAGE");
  several("--without-wait", "these calls do not wait for the GPU, or all; repeatable", "CALL|FILE:LINE|all");
  several("--host", "the time in a function of the program, of 1; repeatable", "FUNCTION=FACTOR");
  several("--async", "this function of the program runs beside its caller, on another thread; repeatable", "FUNCTION");
  several("--kernel", "the time of kernels whose name contains this, of 1, or at the ceilings of this card; repeatable",
          "NAME=FACTOR|NAME=ceiling");
  several("--kind", "the time of kernels of this kind (gemm, attention, elementwise, copy …), of 1; repeatable", "KIND=FACTOR");
  several("--operator", "the time of kernels that this operator or module launches, of 1; repeatable", "NAME=FACTOR");
  several("--fuse", "kernels of this kind that follow each other become one: elementwise, attention", "KIND");
  const auto alone = [&](const char* flag, const char* help) {
    verb->add_flag_callback(flag, [flags, flag] { flags->values[flag].emplace_back(); }, help);
  };
  alone("--pinned", "copies between host and GPU use pinned memory");
  alone("--overlap-copies", "copies to the GPU run beside its other work, a step ahead");
  several("--batch", "so many times the sequences in each step; an interval by the roofline of each kernel", "TIMES");
  several("--weights", "weights of this type: what their bytes bring at best", "TYPE");
  several("--device", "another card, by its name: what its peaks bring at best", "NAME");
  several("--host-speed", "the host is so many times as fast", "TIMES");
  verb->add_option("--unprofiled", flags->unprofiled_ms,
                   "what the stage takes without a profiler, where you know it; default: that of the run's unprofiled passes")
      ->type_name("MS")
      ->check(above_zero<double>());
  verb->add_option("--ledger", flags->ledger,
                   "where names and earlier outcomes are looked up; default: $NL_STAGE_LEDGER, or the user's own")
      ->type_name("PATH|URL");
  verb->add_option("--set", flags->sets, "set one key of the configuration; repeatable")->allow_extra_args(false)->type_name("KEY=VALUE");
  verb->add_flag("--record", flags->record, "list the predictions that try has checked, and how far off they were");
  verb->add_flag("--json", flags->json,
                 "print {run, hardware, tracer, stage, replay_error, binds, unprofiled_ns, interval_scale, predictions, sequence}; with "
                 "--record {ledger, machines}");
  verb->footer(
      "Changes that are given together are made together. Without any, all that apply are tried one by one, and the best sequence of "
      "three\n"
      "is named. A prediction is refused where the replay of the capture is off by more than 5 %, where the capture is not complete, or\n"
      "where it has nothing that the change is about. docs/whatif.md says how it is made, and how far off it was.\n"
      "nl-stage try --predicted checks a prediction and records the outcome. Intervals follow from the outcomes on the same hardware, from "
      "nine on.\n"
      "Examples:\n"
      "  nl-stage whatif artifacts/runs/20250101-120000-llama-deep\n"
      "  nl-stage whatif last --graph decode_step\n"
      "  nl-stage whatif run.sqlite --without-wait cudaStreamSynchronize --host audit_tokens=0 --json\n"
      "  nl-stage whatif last --batch 4 --weights fp8\n"
      "  nl-stage whatif --record");
  verb->callback([flags, &action] { action = [flags] { return predict_or_list(*flags); }; });
}

}  // namespace nl::cli
