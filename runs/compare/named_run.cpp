#include "runs/compare/named_run.h"

#include <fmt/format.h>

#include <filesystem>

#include "model/error.h"
#include "orchestrator/bundle/read_run.h"
#include "runs/ledger/ledger.h"

namespace fs = std::filesystem;

namespace nl::runs {

Run named_run(const std::string& name, const std::string& ledger) {
  std::error_code ignored;
  if (fs::exists(name, ignored)) {
    const fs::path file = run_json_of(name);
    return read_run(read_run_text(file), file);
  }
  try {
    Ledger opened = Ledger::open(ledger_location(ledger), database::Absent::kRefuse);
    const LedgerEntry entry = opened.resolve(name);
    return read_run(opened.run_json(entry.run_id), fmt::format("{} in {}", entry.run_id, opened.location()));
  } catch (const Error& error) {
    throw Error(ErrorKind::kInput, "neither a file nor a run of the ledger: " + error.message, name,
                "name a bundle, its run.json, or a run as `nl-stage ls` lists it");
  }
}

}  // namespace nl::runs
