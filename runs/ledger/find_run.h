#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "model/run.h"
#include "runs/ledger/ledger.h"

// What a verb means by RUN, in one place. docs/ledger.md
namespace nl::runs {

enum class RunPlace {
  kBundle,   // the folder of a bundle
  kRunJson,  // a run.json
  kCapture,  // any other file or folder: the verb may be able to read it
  kLedger,   // a run of the ledger
};

struct FoundRun {
  RunPlace place = RunPlace::kBundle;
  std::filesystem::path path;              // what was named; of kLedger the recorded bundle, which may be gone
  std::optional<LedgerEntry> entry = {};   // of kLedger
  std::string ledger = {};                 // of kLedger: where it is, as Ledger::open() takes it
  std::filesystem::path run_json() const;  // of a bundle and of a run.json
};

// `last`, `last~2`, `tag:NAME`: these name no file, whatever lies in the folder; "./last" does.
bool is_of_ledger(std::string_view name);

// Those are runs of the ledger at `ledger` (empty: the default one). Anything else is the bundle or file of that path, where
// there is one, else a run of the ledger by its id, the beginning of it or its name, else a folder of captures. Throws Error(kInput) where it is nothing
// of that.
FoundRun find_run(const std::string& name, const std::string& ledger = {});

// The run.json of it, from the bundle, the file or the ledger. Error(kInput) where it is a capture.
struct RunText {
  std::string text;
  std::filesystem::path where;  // for messages
};
RunText run_text_of(const FoundRun& found);
Run read_found(const FoundRun& found);

Run named_run(const std::string& name, const std::string& ledger = {});  // both in one

// Where it lies: the path itself, or the recorded bundle. Error(kInput) where that is not there any more.
std::filesystem::path place_of(const std::string& name, const std::string& ledger = {});

// The record of it, of a bundle or run.json by its run_id. Error(kInput) where the ledger has none.
LedgerEntry recorded_entry(const std::string& name, Ledger& ledger);
std::optional<LedgerEntry> recorded_entry(const Run& run, Ledger& ledger);  // nothing where it has none

}  // namespace nl::runs
