#include <utility>

#include "cli/json_output.h"
#include "cli/ledger_flags.h"
#include "cli/verbs.h"
#include "model/run_metrics.h"
#include "model/text_table.h"
#include "model/visible_text.h"
#include "runs/ledger/bundles.h"
#include "runs/ledger/entry_json.h"

// ls and show: what the ledger has.
namespace nl::cli {
namespace {

using runs::entry_json;

std::string joined_tags(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) text += (text.empty() ? "" : ", ") + tag;
  return text;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

// "2026-11-16T17:37:57Z" → "2026-11-16 17:37"
std::string minute_of(const std::string& time) { return time.size() < 16 ? time : time.substr(0, 10) + " " + time.substr(11, 5); }

// "0.00420" with its unit where the key is one of model/run_metrics.h: "4.20 µs" stays what the key says, "0.00420 ms".
std::string metric_text(const std::string& key, double value) {
  const RunMetricInfo* info = find_metric(key);
  const std::string number = three_digits(value);
  return info == nullptr || key_of(info->unit).empty() ? number : fmt::format("{} {}", number, key_of(info->unit));
}

// width: 0: as wide as it is
std::string entry_table(const std::vector<runs::LedgerEntry>& entries, const std::vector<std::string>& metrics, std::size_t width) {
  TextTable table{{"run", "made (UTC)", "name", "status", "model", "GPU", "tags"}, {}, std::vector<bool>(7), metrics.size()};
  table.numbers.resize(7 + metrics.size(), true);
  table.texts_always_shown = 3;
  table.head.insert(table.head.end(), metrics.begin(), metrics.end());
  for (const auto& entry : entries) {
    table.rows.push_back({entry.run_id, minute_of(entry.created_at), entry.name, entry.status, or_dash(entry.model), or_dash(entry.gpu),
                          or_dash(joined_tags(entry.tags))});
    for (const std::string& key : metrics)
      table.rows.back().push_back(entry.metrics.contains(key) ? metric_text(key, entry.metrics.at(key)) : "-");
  }
  const FittedTable shown = fitted(std::move(table), width);
  return shown.text + (shown.left_out.empty() ? "" : fmt::format("not shown for lack of room: {}\n", fmt::join(shown.left_out, ", ")));
}

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

struct ShowFlags {
  std::string run, ledger;
  bool run_json = false, json = false;
};

void show_json(const runs::LedgerEntry& entry, const std::vector<runs::LedgerNote>& notes) {
  write_json(runs::shown_json(entry, notes));
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
  show_line("workload", entry.workload.empty() ? "" : fmt::format("{} ({})", entry.workload_text, entry.workload));
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
