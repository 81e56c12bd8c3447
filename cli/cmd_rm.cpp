#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <functional>
#include <memory>

#include "cli/json_output.h"
#include "cli/ledger_flags.h"
#include "cli/ledger_text.h"
#include "cli/output.h"
#include "cli/value_checks.h"
#include "cli/verbs.h"
#include "model/error.h"
#include "runs/ledger/bundle_state.h"

namespace nl::cli {
namespace {

struct RmFlags {
  std::vector<std::string> runs;
  std::string ledger;
  std::int64_t keep_last = 0;
  bool tagged_too = false, bundles = false, dry_run = false, json = false;
};

std::vector<runs::LedgerEntry> chosen_runs(const RmFlags& flags, runs::Ledger& ledger) {
  if (flags.runs.empty() == (flags.keep_last == 0))
    throw Error(ErrorKind::kUsage, "rm takes runs, or --keep-last", "rm", "nl-stage rm RUN …, or nl-stage rm --keep-last 100");
  if (flags.runs.empty()) return ledger.beyond({flags.keep_last, !flags.tagged_too});
  std::vector<runs::LedgerEntry> entries;  // all are found before one is removed: "last" means what it meant
  for (const std::string& name : flags.runs) entries.push_back(ledger.resolve(name));
  return entries;
}

int remove_runs(const RmFlags& flags) {
  runs::Ledger ledger = open_ledger(flags.ledger);
  const auto entries = chosen_runs(flags, ledger);
  auto removed = nlohmann::ordered_json::array();
  for (const auto& entry : entries) {
    if (!flags.dry_run && flags.bundles && runs::bundle_state(entry) != runs::BundleState::kGone) runs::delete_bundle(entry);
    if (!flags.dry_run) ledger.remove(entry.run_id);
    removed.push_back(entry.run_id);
    if (!flags.json) write_out("{}{}\n", flags.dry_run ? "would remove " : "removed ", entry.run_id);
  }
  if (flags.json) write_json({{"removed", removed}, {"dry_run", flags.dry_run}});
  else if (entries.empty()) write_out("Nothing to remove.\n");
  return 0;
}

}  // namespace

void add_rm(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<RmFlags>();
  CLI::App* verb = app.add_subcommand("rm", "Remove runs from the ledger; their bundles stay unless --bundles is given");
  verb->add_option("runs", flags->runs, kRunNameHelp)->type_name("RUN");
  verb->add_option("--keep-last", flags->keep_last, "remove all but the newest so many")->check(above_zero<std::int64_t>())->type_name("N");
  verb->add_flag("--tagged-too", flags->tagged_too, "with --keep-last: runs with a tag are counted and removed, too");
  verb->add_flag("--bundles", flags->bundles, "delete their bundles, too; a folder that is not the run's own is left and named");
  verb->add_flag("--dry-run", flags->dry_run, "say what would be removed");
  verb->add_flag("--json", flags->json, "print {removed: [run_id], dry_run}");
  add_ledger_flag(*verb, flags->ledger);
  verb->footer(
      "Examples:\n"
      "  nl-stage rm last\n"
      "  nl-stage rm --keep-last 500 --dry-run\n"
      "  nl-stage rm 20261116-1737 --bundles\n"
      "The exit status is 3 if there is no such run or its folder holds something else, 8 if something cannot be deleted.");
  verb->callback([flags, &action] { action = [flags] { return remove_runs(*flags); }; });
}

}  // namespace nl::cli
