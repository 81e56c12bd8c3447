#include <algorithm>
#include <filesystem>
#include <utility>

#include "cli/json_output.h"
#include "cli/ledger_flags.h"
#include "cli/print_answer.h"
#include "cli/verbs.h"
#include "model/error.h"
#include "model/run_metrics.h"
#include "model/visible_text.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/read_run.h"
#include "runs/ledger/bundles.h"
#include "runs/ledger/find_run.h"

namespace nl::cli {
namespace {

namespace fs = std::filesystem;

struct ShowFlags {
  std::string run, ledger;
  bool run_json = false, metrics = false, json = false;
};

void add_record(runs::Ledger& ledger, const runs::LedgerEntry& entry, exporters::Answer& answer) {
  answer.ledger = ledger.location();
  answer.part_of = entry.part_of;
  answer.tags = entry.tags;
  for (const runs::LedgerNote& note : ledger.notes(entry.run_id)) answer.notes.push_back({note.written_at, note.text});
  std::reverse(answer.notes.begin(), answer.notes.end());
}

// A bundle that the ledger does not know, or that cannot be asked for it, is shown all the same.
void add_record_of_path(const Run& run, const std::string& ledger, exporters::Answer& answer) {
  try {
    if (orchestrator::ledger_location(ledger).empty()) return;
    runs::Ledger opened = open_ledger(ledger);
    if (const auto entry = runs::recorded_entry(run, opened)) add_record(opened, *entry, answer);
  } catch (const Error&) {
    if (!ledger.empty()) throw;  // it was asked for
  }
}

// The folder, what became of it, and its files where it is still the run's.
void add_folder(const std::string& run_id, const fs::path& folder, exporters::Answer& answer) {
  runs::LedgerEntry entry;
  entry.run_id = run_id;
  entry.bundle = folder;
  const runs::BundleState state = runs::bundle_state(entry);
  if (state == runs::BundleState::kGone || state == runs::BundleState::kOther) answer.bundle = folder.string();
  else add_bundle(folder, answer);
  if (!folder.empty()) answer.bundle_state = runs::word_of(state);
  if (state == runs::BundleState::kPart) answer.missing_files = runs::missing_files(folder);
}

// The bundle that a run.json lies in; empty: it lies alone.
fs::path folder_of(const runs::FoundRun& found) {
  if (found.place == runs::RunPlace::kLedger) return found.path;
  const fs::path folder = fs::absolute(found.run_json()).lexically_normal().parent_path();
  std::error_code ignored;
  return found.place == runs::RunPlace::kBundle || fs::exists(folder / orchestrator::kManifestFile, ignored) ? folder : fs::path();
}

void print_metrics(const std::map<std::string, double>& metrics) {
  std::size_t longest = 0;
  for (const auto& [key, value] : metrics) longest = std::max(longest, columns_of(visible_line(key)));
  for (const auto& [key, value] : metrics) {
    const std::string name = visible_line(key);
    write_out("{}{:{}}  {}\n", name, "", longest - columns_of(name), metric_words(key, value));
  }
}

void show_line(const char* title, const std::string& text) {
  if (!text.empty()) write_out("{:<10} {}\n", title, text);
}

// All that is known of where it came from, with its metrics.
void print_details(const exporters::Answer& answer) {
  show_line("run", answer.run_id);
  show_line("made", answer.created_at);
  show_line("name", fmt::format("{}, {}, {}", answer.name, answer.mode, key_of(answer.status)));
  show_line("model", answer.model + (answer.precision.empty() ? "" : fmt::format(" ({})", answer.precision)));
  show_line("backend", answer.backend);
  show_line("hardware", answer.hardware);
  show_line("workload", answer.workload.empty() ? "" : fmt::format("{} ({})", answer.workload_text, answer.workload));
  show_line("commit", answer.revision + (answer.modified.value_or(false) ? " (with changes)" : ""));
  show_line("command", answer.command);
  show_line("bundle", answer.bundle.empty() ? "" : fmt::format("{} ({})", answer.bundle, answer.bundle_state));
  for (const std::string& file : answer.missing_files) show_line("missing", file);
  show_line("ledger", answer.ledger);
  for (const std::string& tag : answer.tags) show_line("tag", tag);
  for (const auto& note : answer.notes) show_line("note", fmt::format("{} {}", note.written_at, note.text));
  write_out("\n");
  print_metrics(*answer.metrics);
}

int show(const ShowFlags& flags) {
  const runs::FoundRun found = runs::find_run(flags.run, flags.ledger);
  const runs::RunText text = runs::run_text_of(found);
  if (flags.run_json) {
    write_data(text.text);
    return 0;
  }
  const Run run = orchestrator::read_run(text.text, text.where);
  exporters::Answer answer = exporters::answer_of(run);
  add_folder(run.run_id, folder_of(found), answer);
  if (found.entry) {
    runs::Ledger ledger = open_ledger(flags.ledger);
    add_record(ledger, *found.entry, answer);
  } else {
    add_record_of_path(run, flags.ledger, answer);
  }
  if (flags.metrics) {
    auto& metrics = answer.metrics.emplace();
    for (const RunMetric& metric : run_metrics(run)) metrics.emplace(metric.key, metric.value);
  }
  if (flags.json) write_data(exporters::answer_to_json(answer));
  else if (flags.metrics) print_details(answer);
  else print_answer_lines(answer);
  std::fflush(stdout);
  return 0;
}

}  // namespace

void add_show(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* verb = app.add_subcommand("show", "Show the answer about a run: how fast it is, where the time goes, what to do first");
  verb->add_option("run", flags->run, kRunHelp)->required()->type_name("RUN");
  verb->add_flag("--metrics", flags->metrics, "show what it was, every metric, tags and notes instead; with --json the metrics, too");
  verb->add_flag("--run-json", flags->run_json, "print its run.json; its bundle may be gone where the ledger has it");
  verb->add_flag("--json", flags->json,
                 "print {run_id, bundle, status, summary, unit, budget, actions, findings, predictions, files, tags, notes …}");
  add_ledger_flag(*verb, flags->ledger);
  verb->footer(
      "Examples:\n"
      "  nl-stage show last\n"
      "  nl-stage show artifacts/runs/20250101-120000-llama-deep --json\n"
      "  nl-stage show tag:release --metrics\n"
      "  nl-stage show 20261116-1737 --run-json > run.json\n"
      "The exit status is 3 if there is no such run, or a beginning fits several.");
  verb->callback([flags, &action] { action = [flags] { return show(*flags); }; });
}

}  // namespace nl::cli
