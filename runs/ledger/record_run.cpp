#include "runs/ledger/record_run.h"

#include <chrono>

#include "orchestrator/bundle/read_run.h"
#include "orchestrator/process/activity.h"
#include "runs/ledger/ledger.h"

namespace fs = std::filesystem;

namespace nl::runs {

LedgerRecord record_run(const LedgerOptions& options, const Run& run, std::string_view run_json, const fs::path& bundle) {
  const Activity recording("recording the run in the ledger");
  const std::string location = ledger_location(options.path);
  if (!options.enabled || location.empty()) return {};
  try {
    Ledger ledger = Ledger::open(location);
    ledger.record(run, run_json, bundle, options.part_of);
    ledger.apply({options.keep_last, options.keep_tagged});
    return {ledger.location(), std::nullopt};
  } catch (const Error& error) {
    return {"", error};
  } catch (const std::exception& broken) {  // out of memory, a file system that fails: the run stands
    return {"", Error(ErrorKind::kInternal, broken.what(), without_password(location))};
  }
}

RecordedBundle record_bundle(Ledger& ledger, const fs::path& bundle) {
  const fs::path file = run_json_of(bundle);
  const std::string text = read_run_text(file);
  const Run run = read_run(text, file);
  const auto begin = std::chrono::steady_clock::now();
  ledger.record(run, text, file.parent_path());
  return {run.run_id, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count()};
}

}  // namespace nl::runs
