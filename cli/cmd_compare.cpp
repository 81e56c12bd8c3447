#include "cli/exit_status.h"
#include "cli/ledger_flags.h"
#include "cli/output.h"
#include "cli/print_result.h"
#include "cli/trial_flags.h"
#include "cli/value_checks.h"
#include "cli/verbs.h"
#include "exporters/report/compare/compare.h"
#include "exporters/run_json/run_json.h"
#include "model/comparison.h"
#include "model/error.h"
#include "orchestrator/bundle/provenance.h"
#include "runs/compare/compare.h"

namespace nl::cli {
namespace {

struct CompareFlags {
  std::vector<std::string> a, b, sets;
  std::string out, ledger, model;
  double minimum_effect = 1;
  bool json = false, markdown = false, html = false, force = false, exit_code = false;
};

// Two runs are A and B, as diff and benchstat have it; more of them need --to.
void split_sides(CompareFlags& flags) {
  if (!flags.b.empty()) return;
  if (flags.a.size() == 2) {
    flags.b = {flags.a.back()};
    flags.a.pop_back();
    return;
  }
  throw Error(
      ErrorKind::kUsage, flags.a.size() < 2 ? "there is nothing to compare the run with" : "it is not said which runs are of side B",
      "nl-stage compare",
      flags.a.size() < 2 ? "name a second run: nl-stage compare A B" : "put --to before the runs of side B: nl-stage compare A A --to B B");
}

runs::CompareRequest request_of(const CompareFlags& flags) {
  runs::CompareRequest request{flags.a, flags.b, orchestrator::load_config({.model_file = flags.model, .sets = flags.sets}), flags.ledger};
  request.options.force = flags.force;
  request.options.minimum_effect = flags.minimum_effect / 100;
  return request;
}

void print_sentences(const Comparison& comparison) {
  print_verdict(comparison);
  for (const std::string& sentence : exporters::comparison_sentences(comparison)) write_paragraph(sentence);
}

void print(const Comparison& comparison, const CompareFlags& flags) {
  if (flags.json) return write_data(exporters::comparison_to_json(comparison));
  if (flags.html) return write_data(exporters::comparison_html(comparison, orchestrator::version()));
  if (flags.markdown || (flags.out.empty() && !is_terminal(stdout))) return write_text(exporters::comparison_markdown(comparison));
  if (!flags.out.empty()) return print_sentences(comparison);
  print_verdict(comparison);
  write_out("\n{}", exporters::comparison_text(comparison, line_width()));
}

int compare(CompareFlags& flags) {
  split_sides(flags);
  orchestrator::ProcessLauncher launcher;
  const Comparison comparison = runs::compare_sides(request_of(flags), launcher);
  if (!flags.out.empty()) {
    const auto files = runs::write_comparison(comparison, flags.out);
    if (!flags.json && !flags.html && !flags.markdown)
      for (const std::string& file : files) write_out("{}/{}\n", flags.out, file);
  }
  print(comparison, flags);
  std::fflush(stdout);
  if (!comparison.comparability.refused || comparison.comparability.forced)
    return flags.exit_code && any_regressed(comparison) ? kNotMetStatus : 0;
  print_error({ErrorKind::kInput, exporters::comparison_sentences(comparison).at(0), "compare",
               "choose runs that differ in one thing only, or add --force"});
  return exit_status_of(ErrorKind::kInput);
}

}  // namespace

void add_compare(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* verb = app.add_subcommand("compare", "Say what changed from some runs to others, and whether it is real");
  verb->add_option("runs", flags->a, std::string("two runs, A and B; with --to the runs of side A. Each is ") + kRunOrCaptureHelp)
      ->required()
      ->type_name("RUN");
  verb->add_option("--to", flags->b, "the runs of side B")->type_name("RUN");
  CLI::Option* json = verb->add_flag("--json", flags->json, "print compare.json");
  CLI::Option* markdown =
      verb->add_flag("--markdown", flags->markdown, "print compare.md; the default without --out, except on a terminal");
  CLI::Option* html = verb->add_flag("--html", flags->html, "print compare.html");
  json->excludes(markdown)->excludes(html);
  markdown->excludes(html);
  verb->add_option("-o,--out", flags->out, "write compare.json, compare.md and compare.html into this folder")->type_name("DIR");
  verb->add_flag("--force", flags->force, "compare runs that differ in what they should have in common");
  verb->add_flag("--exit-code", flags->exit_code, "end with status 9 where a stage or a headline figure regressed");
  verb->add_option("--minimum-effect", flags->minimum_effect, "percent: the smallest effect that counts")
      ->capture_default_str()
      ->check(between(0.0, 100.0));
  verb->add_option("--ledger", flags->ledger, "where names are looked up; default: $NL_STAGE_LEDGER, or the user's own")
      ->type_name("PATH|URL");
  verb->add_option("--model", flags->model, "of raw captures: as for import")->type_name("MODEL");
  verb->add_option("--set", flags->sets, "of raw captures: set one key; repeatable")->allow_extra_args(false)->type_name("KEY=VALUE");
  verb->footer(
      "The verdict follows from the interval of the change alone: changed where all of it lies beyond the minimum effect, unchanged where "
      "all\n"
      "of it lies within, else undecidable. Capture the sides in pairs, A beside B in random order; with fewer than three runs a side it "
      "is assumed\n"
      "how much runs differ, or taken from the ledger. docs/compare.md says how verdicts are made.\n"
      "Examples:\n"
      "  nl-stage compare before/ after/\n"
      "  nl-stage compare a1/ a2/ a3/ --to b1/ b2/ b3/ --out comparison\n"
      "  nl-stage compare eager.sqlite --to graphs.sqlite --json\n"
      "  nl-stage compare tag:baseline last");
  verb->callback([flags, &action] { action = [flags] { return compare(*flags); }; });
}

}  // namespace nl::cli
