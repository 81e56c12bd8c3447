#include "cli/served_place.h"

#include <cstdlib>

#include "model/error.h"
#include "orchestrator/config/ledger_location.h"

namespace nl::cli {

std::filesystem::path served_root(const std::string& asked) {
  std::error_code failed;
  const std::filesystem::path root = std::filesystem::canonical(asked, failed);
  if (failed || !std::filesystem::is_directory(root))
    throw Error(ErrorKind::kUsage, "there is no such folder", asked, "name the folder below which captures and bundles lie");
  return root;
}

void pass_on_ledger(const std::string& asked) {
  const char* variable = std::getenv(orchestrator::kLedgerVariable);
  const std::string ledger = !asked.empty() ? asked : variable == nullptr ? "" : variable;
  if (ledger.empty()) return;
  const bool is_file = !orchestrator::ledger_is_off(ledger) && !orchestrator::is_postgresql_url(ledger);
  setenv(orchestrator::kLedgerVariable, (is_file ? std::filesystem::absolute(ledger).string() : ledger).c_str(), 1);
}

}  // namespace nl::cli
