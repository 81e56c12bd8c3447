#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <functional>
#include <memory>

#include "cli/json_output.h"
#include "cli/ledger_flags.h"
#include "cli/ledger_text.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace nl::cli {
namespace {

struct LsFlags : FilterFlags {
  std::size_t limit = 20;
  bool json = false;
};

// "No runs.", and where to look further.
std::string none_found(runs::Ledger& ledger, runs::LedgerFilter filter) {
  if (filter.parts) return "No runs.";
  filter.parts = true;
  filter.limit = 1;
  return ledger.query(filter).empty() ? "No runs." : "No runs but the rounds of try and bisect: --all lists them.";
}

int list_runs(const LsFlags& flags) {
  runs::LedgerFilter filter = filter_of(flags);
  filter.limit = flags.limit == 0 || flags.json ? flags.limit : flags.limit + 1;  // one more tells whether there are more
  runs::Ledger ledger = open_ledger(flags.ledger);
  auto entries = ledger.query(filter);
  if (flags.json) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& entry : entries) list.push_back(entry_json(entry));
    write_json({{"runs", list}});
    return 0;
  }
  const bool more = flags.limit > 0 && entries.size() > flags.limit;
  if (more) entries.pop_back();
  if (entries.empty()) write_out("{}\n", none_found(ledger, filter));
  else write_text(entry_table(entries, filter.metrics, line_width()));
  if (more) write_out("There are more: --limit 0 lists all.\n");
  std::fflush(stdout);
  return 0;
}

}  // namespace

void add_ls(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<LsFlags>();
  CLI::App* verb = app.add_subcommand("ls", "List and search the runs of the ledger, the newest first");
  verb->add_option("words", flags->words,
                   "words, or beginnings of words, of names, model, GPU, command, kernels, findings, tags or notes; all must be there");
  add_filter_flags(*verb, *flags);
  verb->add_option("--metric", flags->filter.metrics, "show this metric (nl-stage gate --list names them); repeatable")
      ->allow_extra_args(false)
      ->type_name("KEY");
  verb->add_option("-n,--limit", flags->limit, "at most so many; 0: all")->capture_default_str();
  verb->add_flag("--json", flags->json, "print {runs: [{run_id, created_at, name, mode, status, model …, tags, metrics}]}");
  verb->footer(
      "Examples:\n"
      "  nl-stage ls\n"
      "  nl-stage ls llama --gpu H200 --since 7d --tag release\n"
      "  nl-stage ls flash_fwd --metric tpot_ms --metric stage.decode_step.unprofiled_ms\n"
      "  nl-stage ls --status failed --limit 0 --json\n"
      "The exit status is 3 if there is no ledger, or it is damaged or newer than this nl-stage.");
  verb->callback([flags, &action] { action = [flags] { return list_runs(*flags); }; });
}

}  // namespace nl::cli
