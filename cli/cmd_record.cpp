#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <functional>
#include <memory>

#include "cli/json_output.h"
#include "cli/ledger_flags.h"
#include "cli/ledger_text.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "runs/ledger/record_run.h"

namespace nl::cli {
namespace {

struct RecordFlags {
  std::vector<std::string> bundles;
  std::string ledger;
  bool json = false;
};

int record_bundles(const RecordFlags& flags) {
  runs::Ledger ledger = runs::Ledger::open(orchestrator::ledger_location(flags.ledger));
  auto recorded = nlohmann::ordered_json::array();
  for (const std::string& bundle : flags.bundles) {
    const runs::RecordedBundle record = runs::record_bundle(ledger, bundle);
    recorded.push_back({{"run_id", record.run_id}, {"record_ms", record.record_ms}});
    if (!flags.json) write_out("recorded {} ({})\n", record.run_id, ledger.location());
  }
  if (flags.json) write_json({{"recorded", recorded}, {"ledger", ledger.location()}});
  return 0;
}

}  // namespace

void add_record(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<RecordFlags>();
  CLI::App* verb = app.add_subcommand("record", "Record bundles in the ledger that were made elsewhere, or without it");
  verb->add_option("bundles", flags->bundles, "bundles, or their run.json")->required()->type_name("BUNDLE");
  verb->add_flag("--json", flags->json, "print {recorded: [{run_id, record_ms}], ledger}");
  add_ledger_flag(*verb, flags->ledger);
  verb->footer(
      "A run that is in the ledger already is replaced; its tags and notes stay.\n"
      "Examples:\n"
      "  nl-stage record artifacts/runs/*\n"
      "  nl-stage record bundle --ledger postgresql://me@host/runs\n"
      "The exit status is 3 if a run.json is missing or damaged, 8 if the ledger cannot be written.");
  verb->callback([flags, &action] { action = [flags] { return record_bundles(*flags); }; });
}

}  // namespace nl::cli
