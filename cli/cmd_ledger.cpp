#include "cli/json_output.h"
#include "cli/ledger_flags.h"
#include "cli/value_checks.h"
#include "cli/verbs.h"
#include "model/error.h"
#include "runs/ledger/bundles.h"
#include "runs/ledger/find_run.h"

// record, tag, note and rm: what changes the ledger.
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

struct TagFlags {
  std::string run, ledger;
  std::vector<std::string> tags;
  bool remove = false, json = false;
};

int tag_run(const TagFlags& flags) {
  runs::Ledger ledger = open_ledger(flags.ledger);
  const std::string run_id = runs::recorded_entry(flags.run, ledger).run_id;
  for (const std::string& tag : flags.tags) flags.remove ? ledger.remove_tag(run_id, tag) : ledger.add_tag(run_id, tag);
  const runs::LedgerEntry entry = ledger.resolve(run_id);
  if (flags.json) write_json({{"run_id", run_id}, {"tags", entry.tags}});
  else write_out("{}: {}\n", run_id, entry.tags.empty() ? "no tags" : fmt::format("{}", fmt::join(entry.tags, ", ")));
  return 0;
}

struct NoteFlags {
  std::string run, ledger, text;
  bool json = false;
};

int note_run(const NoteFlags& flags) {
  runs::Ledger ledger = open_ledger(flags.ledger);
  const std::string run_id = runs::recorded_entry(flags.run, ledger).run_id;
  ledger.add_note(run_id, flags.text);
  if (flags.json) write_json({{"run_id", run_id}, {"notes", ledger.notes(run_id).size()}});
  else write_out("{}: noted\n", run_id);
  return 0;
}

struct RmFlags {
  std::vector<std::string> runs;
  std::string ledger;
  std::int64_t keep_last = 0;
  bool tagged_too = false, bundles = false, dry_run = false, json = false;
};

// Named by a folder that is not the recorded one: which of the two is to be deleted?
void refuse_copy(const std::string& name, const runs::LedgerEntry& entry) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::is_directory(name, ignored) || fs::equivalent(name, entry.bundle, ignored) ||
      runs::find_run(name).place != runs::RunPlace::kBundle)
    return;
  throw Error(ErrorKind::kInput, fmt::format("the ledger has the bundle of {} in another folder; nothing was deleted", entry.run_id),
              entry.bundle.string(), fmt::format("nl-stage rm {} --bundles deletes that one; this copy is yours to delete", entry.run_id));
}

std::vector<runs::LedgerEntry> chosen_runs(const RmFlags& flags, runs::Ledger& ledger) {
  if (flags.runs.empty() == (flags.keep_last == 0))
    throw Error(ErrorKind::kUsage, "rm takes runs, or --keep-last", "rm", "nl-stage rm RUN …, or nl-stage rm --keep-last 100");
  if (flags.runs.empty()) return ledger.beyond({flags.keep_last, !flags.tagged_too});
  std::vector<runs::LedgerEntry> entries;  // all are found before one is removed: "last" means what it meant
  for (const std::string& name : flags.runs) {
    entries.push_back(runs::recorded_entry(name, ledger));
    if (flags.bundles) refuse_copy(name, entries.back());
  }
  return entries;
}

// Returns what is kept in its folder, since it is not the run's.
std::vector<std::filesystem::path> remove_run(const RmFlags& flags, runs::Ledger& ledger, const runs::LedgerEntry& entry) {
  std::vector<std::filesystem::path> kept;
  if (flags.bundles && runs::bundle_state(entry) != runs::BundleState::kGone)
    kept = flags.dry_run ? runs::not_of_the_run(entry) : runs::delete_bundle(entry);
  if (!flags.dry_run) ledger.remove(entry.run_id);
  return kept;
}

int remove_runs(const RmFlags& flags) {
  runs::Ledger ledger = open_ledger(flags.ledger);
  const auto entries = chosen_runs(flags, ledger);
  auto removed = nlohmann::ordered_json::array(), kept = nlohmann::ordered_json::array();
  for (const auto& entry : entries) {
    const auto others = remove_run(flags, ledger, entry);
    removed.push_back(entry.run_id);
    if (!flags.json) write_out("{}{}\n", flags.dry_run ? "would remove " : "removed ", entry.run_id);
    for (const auto& other : others) {
      kept.push_back(other.string());
      if (!flags.json) write_out("{}{} (not in the run's manifest)\n", flags.dry_run ? "would keep " : "kept ", other.string());
    }
  }
  if (flags.json) write_json({{"removed", removed}, {"kept", kept}, {"dry_run", flags.dry_run}});
  else if (entries.empty()) write_out("Nothing to remove.\n");
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

void add_tag(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<TagFlags>();
  CLI::App* verb = app.add_subcommand("tag", "Give a run of the ledger tags, or take them away");
  verb->add_option("run", flags->run, kRunHelp)->required()->type_name("RUN");
  verb->add_option("tags", flags->tags, "words without spaces, commas, : and ~")->required()->type_name("TAG");
  verb->add_flag("--remove", flags->remove, "take them away");
  verb->add_flag("--json", flags->json, "print {run_id, tags}: those that it has now");
  add_ledger_flag(*verb, flags->ledger);
  verb->footer(
      "Runs with a tag stay when ledger.keep_last removes older ones.\n"
      "Examples:\n"
      "  nl-stage tag last baseline\n"
      "  nl-stage tag 20261116-1737 release v1.2 --remove");
  verb->callback([flags, &action] { action = [flags] { return tag_run(*flags); }; });
}

void add_note(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<NoteFlags>();
  CLI::App* verb = app.add_subcommand("note", "Write a note to a run of the ledger");
  verb->add_option("run", flags->run, kRunHelp)->required()->type_name("RUN");
  verb->add_option("text", flags->text, "the note; `nl-stage ls` finds its words")->required()->type_name("TEXT");
  verb->add_flag("--json", flags->json, "print {run_id, notes}: how many it has now");
  add_ledger_flag(*verb, flags->ledger);
  verb->footer(
      "Examples:\n"
      "  nl-stage note last \"fan replaced, clocks locked at 1980 MHz\"\n"
      "  nl-stage note artifacts/runs/20250101-120000-llama-deep \"the baseline of May\"");
  verb->callback([flags, &action] { action = [flags] { return note_run(*flags); }; });
}

void add_rm(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<RmFlags>();
  CLI::App* verb = app.add_subcommand("rm", "Remove runs from the ledger; their bundles stay unless --bundles is given");
  verb->add_option("runs", flags->runs, kRunHelp)->type_name("RUN");
  verb->add_option("--keep-last", flags->keep_last, "remove all but the newest so many")->check(above_zero<std::int64_t>())->type_name("N");
  verb->add_flag("--tagged-too", flags->tagged_too, "with --keep-last: runs with a tag are counted and removed, too");
  verb->add_flag("--bundles", flags->bundles,
                 "delete their bundles, too: the files of the run's manifest; anything else in the folder is kept and named");
  verb->add_flag("--dry-run", flags->dry_run, "say what would be removed");
  verb->add_flag("--json", flags->json, "print {removed: [run_id], kept: [path], dry_run}");
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
