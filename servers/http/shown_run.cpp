#include "servers/http/shown_run.h"

#include <fmt/format.h>

#include "exporters/detail/detail_json.h"
#include "model/error.h"
#include "orchestrator/bundle/files.h"
#include "orchestrator/bundle/read_run.h"
#include "runs/archive/read_file.h"
#include "runs/ledger/bundles.h"

namespace nl::servers::http {
namespace {

constexpr std::uint64_t kMostArchivedDetail = 64 << 20;

// A damaged archive is no reason to show nothing of the run.
std::string archived_detail(const std::string& archive, const std::string& run_id) {
  try {
    std::string bytes = runs::archived_file(archive, run_id, orchestrator::kDetailFile, kMostArchivedDetail).value_or("");
    return exporters::is_detail_file(bytes) ? bytes : std::string();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

ShownFrom shown_from(const runs::LedgerEntry& entry, std::string& archive) {
  const runs::BundleState state = runs::bundle_state(entry);
  if (state == runs::BundleState::kWhole) return ShownFrom::kBundle;
  archive = runs::archive_beside(entry.bundle, entry.run_id).string();
  return archive.empty() ? ShownFrom::kLedger : ShownFrom::kArchive;
}

Run recorded_run(runs::Ledger& ledger, const runs::LedgerEntry& entry) {
  return orchestrator::read_run(ledger.run_json(entry.run_id), fmt::format("{} in {}", entry.run_id, ledger.location()));
}

ShownRun shown_run(runs::Ledger& ledger, const runs::LedgerEntry& entry) {
  ShownRun shown;
  shown.run = recorded_run(ledger, entry);
  shown.from = shown_from(entry, shown.archive);
  if (shown.from == ShownFrom::kBundle) shown.detail = orchestrator::read_detail_file(entry.bundle);
  if (shown.from == ShownFrom::kArchive) shown.detail = archived_detail(shown.archive, entry.run_id);
  return shown;
}

}  // namespace nl::servers::http
