#pragma once

#include <string>

#include "model/run.h"
#include "runs/ledger/ledger.h"

namespace nl::servers::http {

// Where what is shown of a run comes from. run.json is the ledger's in each case; the timeline is the bundle's alone.
enum class ShownFrom { kBundle, kArchive, kLedger };

struct ShownRun {
  Run run;
  ShownFrom from = ShownFrom::kLedger;
  std::string detail;   // the bytes of detail.json.gz; empty: there are none
  std::string archive;  // its path, where it is one
};

// Throws Error(kInput) where the ledger has no run.json of it, or a damaged one.
ShownRun shown_run(runs::Ledger& ledger, const runs::LedgerEntry& entry);
ShownFrom shown_from(const runs::LedgerEntry& entry, std::string& archive);

Run recorded_run(runs::Ledger& ledger, const runs::LedgerEntry& entry);  // of the ledger's run.json

}  // namespace nl::servers::http
