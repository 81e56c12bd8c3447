#pragma once

#include <string>
#include <vector>

#include "model/run.h"
#include "runs/ledger/ledger.h"
#include "tests/unit/files.h"

// What the ledger's tests share: ledgers that no other test uses, and runs made for them.
namespace nl::test {

// A new, empty ledger of one of the databases; goes with its owner.
struct LedgerPlace {
  explicit LedgerPlace(const std::string& database);
  LedgerPlace(const LedgerPlace&) = delete;
  LedgerPlace& operator=(const LedgerPlace&) = delete;
  runs::Ledger open() const { return runs::Ledger::open(location); }
  Folder folder;  // before the location, which may lie in it
  std::string location;
};

// The databases that can be tested here.
std::vector<std::string> ledger_databases();

// A run with one stage, "decode_step", of this median.
Run ledger_run(const std::string& run_id, const std::string& created_at, double step_ns = 1000);

std::vector<std::string> ids_of(const std::vector<runs::LedgerEntry>& entries);

}  // namespace nl::test
