#include "cli/ledger_flags.h"
#include "cli/output.h"
#include "cli/value_checks.h"
#include "cli/verbs.h"
#include "exporters/trends/trends.h"
#include "orchestrator/bundle/bundle.h"
#include "runs/trends/trends.h"

namespace nl::cli {
namespace {

struct TrendFlags : FilterFlags {
  std::string metric, svg, html;
  TrendBy by = TrendBy::kDate;
  double min_effect_percent = 1;
  bool json = false;
};

int print_trends(const TrendFlags& flags) {
  runs::Ledger ledger = open_ledger(flags.ledger);
  const Trend trend = runs::trend_of(ledger, {flags.metric, filter_of(flags), flags.by, flags.min_effect_percent / 100});
  if (!flags.svg.empty()) orchestrator::write_file_whole(flags.svg, exporters::trend_svg(trend));
  if (!flags.html.empty()) orchestrator::write_file_whole(flags.html, exporters::trend_html(trend));
  write_answer(flags.json, flags.json ? exporters::trend_json(trend)
                                      : exporters::trend_text(trend, line_width() > 0 ? line_width() : exporters::kPictureColumns));
  return 0;
}

}  // namespace

void add_trends(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<TrendFlags>();
  CLI::App* verb = app.add_subcommand("trends", "Draw a metric over the runs of the ledger, with its changes and anomalies");
  verb->add_option("metric", flags->metric, "its key; nl-stage gate --list and show name them")->required()->type_name("METRIC");
  verb->add_option("words", flags->words, "only runs with these words, as for ls");
  verb->add_option("--by", flags->by, "what a point is: date: each run; commit: the median of a commit's runs")
      ->transform(CLI::CheckedTransformer(std::map<std::string, TrendBy>{{"date", TrendBy::kDate}, {"commit", TrendBy::kCommit}})
                      .description("{date,commit}"))
      ->type_name("WHAT");
  verb->add_option("--min-effect", flags->min_effect_percent, "smaller changes are none, in percent of the level before")
      ->check(between(0.0, 1000.0))
      ->capture_default_str();
  add_filter_flags(*verb, *flags);
  verb->add_option("--svg", flags->svg, "write the picture, too")->type_name("FILE");
  verb->add_option("--html", flags->html, "write it as a page with its changes and anomalies, too")->type_name("FILE");
  verb->add_flag("--json", flags->json,
                 "print {metric, unit, better, by, series: [{hardware, model, precision, workload, workload_text, points, levels, changes, "
                 "anomalies}]}");
  verb->footer(
      "Runs of another GPU or workload (program, arguments, model, precision, batch, length of prompts) are a series of their own. "
      "docs/ledger.md says how changes are found.\n"
      "Examples:\n"
      "  nl-stage trends tpot_ms --model llama --gpu H200\n"
      "  nl-stage trends stage.decode_step.unprofiled_ms --by commit --since 90d --html trend.html\n"
      "  nl-stage trends tokens_per_s --tag nightly --json\n"
      "The exit status is 3 if no run has the metric, 8 if a file cannot be written.");
  verb->callback([flags, &action] { action = [flags] { return print_trends(*flags); }; });
}

}  // namespace nl::cli
