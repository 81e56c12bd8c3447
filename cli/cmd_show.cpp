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
#include "runs/ledger/bundle_state.h"

namespace nl::cli {
namespace {

struct ShowFlags {
  std::string run, ledger;
  bool run_json = false, json = false;
};

using Metrics = std::map<std::string, double>;

void show_json(const runs::LedgerEntry& entry, const std::vector<runs::LedgerNote>& notes) {
  auto json = entry_json(entry);
  json["bundle_state"] = runs::word_of(runs::bundle_state(entry));
  json["notes"] = nlohmann::ordered_json::array();
  for (const auto& note : notes) json["notes"].push_back({{"written_at", note.written_at}, {"text", note.text}});
  write_json(json);
}

void show_line(const char* title, const std::string& text) {
  if (!text.empty()) write_out("{:<10} {}\n", title, text);
}

void show_text(const runs::LedgerEntry& entry, const std::vector<runs::LedgerNote>& notes) {
  show_line("run", entry.run_id);
  show_line("made", entry.created_at);
  show_line("name", fmt::format("{}, {}, {}", entry.name, entry.mode, entry.status));
  show_line("model", entry.model + (entry.precision.empty() ? "" : fmt::format(" ({})", entry.precision)));
  show_line("backend", entry.backend);
  show_line("hardware", entry.hardware);
  show_line("commit", entry.revision + (entry.modified.value_or(false) ? " (with changes)" : ""));
  show_line("command", entry.command);
  show_line("bundle", fmt::format("{} ({})", entry.bundle.string(), runs::word_of(runs::bundle_state(entry))));
  for (const std::string& tag : entry.tags) show_line("tag", tag);
  for (const auto& note : notes) show_line("note", fmt::format("{} {}", note.written_at, note.text));
  write_out("\n");
  for (const auto& [key, value] : entry.metrics) write_out("{:<44} {}\n", key, metric_text(key, value));
  std::fflush(stdout);
}

int show(const ShowFlags& flags) {
  runs::Ledger ledger = open_ledger(flags.ledger);
  runs::LedgerEntry entry = ledger.resolve(flags.run);
  if (flags.run_json) {
    write_data(ledger.run_json(entry.run_id));
    return 0;
  }
  entry.metrics = ledger.metrics(entry.run_id);
  const auto notes = ledger.notes(entry.run_id);
  flags.json ? show_json(entry, notes) : show_text(entry, notes);
  return 0;
}

}  // namespace

void add_show(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* verb = app.add_subcommand("show", "Show a run of the ledger: what it was, its metrics, tags and notes");
  verb->add_option("run", flags->run, kRunNameHelp)->required()->type_name("RUN");
  verb->add_flag("--run-json", flags->run_json, "print the run.json that the ledger keeps; its bundle may be gone");
  verb->add_flag("--json", flags->json, "print {run_id, …, metrics, bundle_state, notes}");
  add_ledger_flag(*verb, flags->ledger);
  verb->footer(
      "Examples:\n"
      "  nl-stage show last\n"
      "  nl-stage show tag:release --json\n"
      "  nl-stage show 20261116-1737 --run-json > run.json\n"
      "The exit status is 3 if there is no such run, or a beginning fits several.");
  verb->callback([flags, &action] { action = [flags] { return show(*flags); }; });
}

}  // namespace nl::cli
