#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <functional>
#include <memory>

#include "cli/json_output.h"
#include "cli/ledger_flags.h"
#include "cli/ledger_text.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace nl::cli {
namespace {

struct TagFlags {
  std::string run, ledger;
  std::vector<std::string> tags;
  bool remove = false, json = false;
};

int tag_run(const TagFlags& flags) {
  runs::Ledger ledger = open_ledger(flags.ledger);
  const std::string run_id = ledger.resolve(flags.run).run_id;
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
  const std::string run_id = ledger.resolve(flags.run).run_id;
  ledger.add_note(run_id, flags.text);
  if (flags.json) write_json({{"run_id", run_id}, {"notes", ledger.notes(run_id).size()}});
  else write_out("{}: noted\n", run_id);
  return 0;
}

}  // namespace

void add_tag(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<TagFlags>();
  CLI::App* verb = app.add_subcommand("tag", "Give a run of the ledger tags, or take them away");
  verb->add_option("run", flags->run, kRunNameHelp)->required()->type_name("RUN");
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
  verb->add_option("run", flags->run, kRunNameHelp)->required()->type_name("RUN");
  verb->add_option("text", flags->text, "the note; `nl-stage ls` finds its words")->required()->type_name("TEXT");
  verb->add_flag("--json", flags->json, "print {run_id, notes}: how many it has now");
  add_ledger_flag(*verb, flags->ledger);
  verb->footer(
      "Examples:\n"
      "  nl-stage note last \"fan replaced, clocks locked at 1980 MHz\"");
  verb->callback([flags, &action] { action = [flags] { return note_run(*flags); }; });
}

}  // namespace nl::cli
