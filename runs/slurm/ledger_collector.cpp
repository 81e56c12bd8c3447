#include "runs/slurm/ledger_collector.h"

#include "model/error.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/config/config.h"
#include "runs/ledger/record_run.h"

namespace nl::runs::slurm {

Collector ledger_collector(const std::vector<std::string>& sets) {
  const LedgerOptions options = load_config({.runner_file = "unprofiled", .sets = sets}).ledger;
  return [options](const TaskRecord& record) -> std::string {
    try {
      const auto file = run_json_of(record.bundle);
      const std::string text = read_run_text(file);
      const LedgerRecord recorded = record_run(options, read_run(text, file), text, record.bundle);
      return recorded.failure ? recorded.failure->message : std::string();
    } catch (const Error& error) {
      return error.message;
    }
  };
}

}  // namespace nl::runs::slurm
