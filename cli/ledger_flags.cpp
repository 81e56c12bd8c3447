#include "cli/ledger_flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>

#include "cli/run_flags.h"
#include "model/run_metrics.h"
#include "model/visible_text.h"
#include "runs/ledger/ledger.h"

namespace nl::cli {

std::string metric_words(const std::string& key, double value) {
  const RunMetricInfo* info = find_metric(key);
  const std::string number = three_digits(value);
  return info == nullptr || key_of(info->unit).empty() ? number : fmt::format("{} {}", number, key_of(info->unit));
}

void add_ledger_flag(CLI::App& verb, std::string& ledger) { verb.add_option("--ledger", ledger, kLedgerHelp)->type_name("PATH|URL"); }

runs::Ledger open_ledger(const std::string& asked) {
  return runs::Ledger::open(orchestrator::ledger_location(asked), runs::database::Absent::kRefuse);
}

void add_filter_flags(CLI::App& verb, FilterFlags& flags) {
  auto& filter = flags.filter;
  verb.add_option("--name", filter.name, "runs of this name");
  verb.add_option("--model", filter.model, "whose model's name has this in it");
  verb.add_option("--gpu", filter.gpu, "whose GPU's name has this in it");
  verb.add_option("--precision", filter.precision, "whose precision has this in it");
  verb.add_option("--backend", filter.backend, "whose backend has this in it");
  verb.add_option("--commit", filter.revision, "whose git revision begins so");
  verb.add_option("--workload", filter.workload, "of this workload: a key that `show` and `ls --json` tell, or its beginning")
      ->type_name("KEY");
  verb.add_option("--mode", filter.mode, "deep, light, import …");
  verb.add_option("--status", filter.status, "complete, partial, interrupted or failed");
  verb.add_option("--tag", filter.tags, "with this tag; repeatable, all must be there")->allow_extra_args(false);
  verb.add_flag("--all", filter.parts, "also the rounds of try and bisect, and the timing runs of suites");
  verb.add_option("--since", flags.since, "made at this time or later: 2026-11-16, 2026-11-16T12:00:00Z, 24h, 7d")->type_name("TIME");
  verb.add_option("--until", flags.until, "made at this time or earlier; a date is all of that day")->type_name("TIME");
  add_ledger_flag(verb, flags.ledger);
}

runs::LedgerFilter filter_of(const FilterFlags& flags) {
  runs::LedgerFilter filter = flags.filter;
  const auto now = std::chrono::system_clock::now();
  filter.since = runs::moment_text(flags.since, "--since", now);
  filter.until = runs::moment_text(flags.until, "--until", now);
  for (const std::string& word : flags.words) filter.words += word + " ";
  return filter;
}

}  // namespace nl::cli
