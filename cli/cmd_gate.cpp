#include <algorithm>

#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/ledger_flags.h"
#include "cli/verbs.h"
#include "exporters/gate/gate_reports.h"
#include "model/comparison.h"
#include "model/error.h"
#include "model/visible_text.h"
#include "orchestrator/bundle/bundle.h"
#include "runs/gate/gate.h"
#include "runs/ledger/find_run.h"

namespace nl::cli {
namespace {

struct GateFlags {
  runs::GateRequest request;
  std::string expectations, junit;
  bool list = false, markdown = false, github = false, json = false;
};

nlohmann::ordered_json listed(const RunMetric& metric) {
  return {{"key", metric.key},
          {"value", metric.value},
          {"unit", key_of(metric.info->unit)},
          {"better", key_of(metric.info->better)},
          {"unprofiled", metric.unprofiled}};
}

int list_metrics(const GateFlags& flags) {
  auto all = nlohmann::ordered_json::array();
  for (const std::string& name : flags.request.runs) {
    const Run run = runs::named_run(name, flags.request.ledger);
    nlohmann::ordered_json metrics = nlohmann::ordered_json::array();
    if (!flags.json) write_out("{} on {}\n", run.run_id, visible_line(hardware_key(run)));
    for (const RunMetric& metric : run_metrics(run, kEveryKernel))
      if (flags.json) metrics.push_back(listed(metric));
      else write_out("  {} {}\n", metric.key, exporters::metric_value_text(*metric.info, metric.value));
    all.push_back({{"run_id", run.run_id}, {"hardware", hardware_key(run)}, {"metrics", metrics}});
  }
  if (flags.json) write_json({{"runs", all}});
  std::fflush(stdout);
  return 0;
}

Colour colour_of(const GateReport& report) {
  if (!report.passed()) return Colour::kRed;
  const bool any =
      std::any_of(report.results.begin(), report.results.end(), [](const GateResult& result) { return !result.lines.empty(); });
  return any ? Colour::kGreen : Colour::kNone;
}

void print(const GateReport& report, const GateFlags& flags) {
  if (flags.json) return write_data(exporters::gate_json(report));
  if (flags.markdown) return write_text(exporters::gate_markdown(report));
  write_text(exporters::gate_text(report, line_width()));
  write_text(exporters::gate_verdict(report), stdout, colour_of(report));
  write_out("\n");
}

int gate(GateFlags& flags) {
  if (flags.list) return list_metrics(flags);
  if (flags.expectations.empty())
    throw Error(ErrorKind::kUsage, "no file of expectations is given", "--expectations",
                "add --expectations FILE.yaml; with --update it is written");
  flags.request.expectations = flags.expectations;
  const GateReport report = runs::check_gate(flags.request);
  if (!flags.junit.empty()) orchestrator::write_file_whole(flags.junit, exporters::gate_junit(report));
  // A runner reads its commands from stderr as well, and stdout may go into its summary.
  if (flags.github) write_text(exporters::gate_annotations(report), stderr);
  print(report, flags);
  std::fflush(stdout);
  return report.passed() ? 0 : kNotMetStatus;
}

}  // namespace

void add_gate(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<GateFlags>();
  CLI::App* verb = app.add_subcommand("gate", "Check runs against expected figures, for CI");
  verb->add_option("runs", flags->request.runs, std::string(kRunHelp) + "; of several on one hardware the median counts")
      ->required()
      ->type_name("RUN");
  verb->add_option("-e,--expectations", flags->expectations, "what is expected, by hardware")->type_name("FILE.yaml");
  verb->add_flag("--update", flags->request.update, "write what these runs reached where it is not met or new, and name the changed files");
  verb->add_option("--metric", flags->request.metrics, "with --update: expect this metric too, * for any characters; repeatable")
      ->allow_extra_args(false)
      ->type_name("METRIC");
  add_ledger_flag(*verb, flags->request.ledger);
  verb->add_flag("--strict", flags->request.strict, "fail what is undecided, too");
  verb->add_option("--junit", flags->junit, "write JUnit XML too")->type_name("FILE.xml");
  auto* markdown = verb->add_flag("--markdown", flags->markdown, "print GitHub-flavoured Markdown");
  verb->add_flag("--github", flags->github, "print ::error and ::notice annotations on stderr");
  verb->add_flag("--list", flags->list, "print every metric of the runs");
  verb->add_flag("--json", flags->json,
                 "print {passed, expectations, results, changes, changed_files, notes}; with --list {runs: [{run_id, hardware, metrics}]}")
      ->excludes(markdown);
  verb->footer(
      "A metric is met within its tolerance, else improved or regressed; undecided where runs of one build may differ as much; new where "
      "the file expects it of other hardware only;\n"
      "missing where the runs do not have it, or one of them is of another program, architecture, precision, batch, prompt length or shape "
      "of inputs.\n"
      "Figures of another capture mode or model are refused, not compared.\n"
      "Examples:\n"
      "  nl-stage gate last --list\n"
      "  nl-stage gate bundle -e perf/llama.yaml --update --metric tpot_unprofiled_ms --metric 'stage.*.median_ms'\n"
      "  nl-stage gate bundle -e perf/llama.yaml --junit gate.xml\n"
      "  nl-stage gate run1 run2 run3 -e perf/llama.yaml --github --markdown >> $GITHUB_STEP_SUMMARY\n\n"
      "The exit status is 9 if a metric is regressed or missing (or undecided with --strict), 2 if the file of expectations is wrong or "
      "mixes capture modes,\n"
      "3 if a run.json is missing or damaged, or the runs cannot be compared with the file, 8 if a file cannot be written.");
  verb->callback([flags, &action] { action = [flags] { return gate(*flags); }; });
}

}  // namespace nl::cli
