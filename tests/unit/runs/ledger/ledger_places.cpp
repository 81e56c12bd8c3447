#include "tests/unit/runs/ledger/ledger_places.h"

#include "tests/unit/runs/ledger/postgresql_server.h"

namespace nl::test {

LedgerPlace::LedgerPlace(const std::string& database) {
  location = database == "sqlite" ? (folder / "ledger.sqlite").string() : shared_postgresql().new_database();
}

std::vector<std::string> ledger_databases() {
  std::vector<std::string> databases = {"sqlite"};
  if (shared_postgresql().why_not.empty()) databases.push_back("postgresql");  // postgresql_test.cpp says where it is not tested
  return databases;
}

Run ledger_run(const std::string& run_id, const std::string& created_at, double step_ns) {
  Run run;
  run.run_id = run_id;
  run.created_at = created_at;
  run.name = "run";
  run.mode = "deep";
  StageEntry stage;
  stage.name = "decode_step";
  stage.wall.count = 4;
  stage.wall.total_ns = static_cast<Ns>(4 * step_ns);
  stage.wall.mean_ns = stage.wall.median_ns = step_ns;
  run.stages = {stage};
  return run;
}

std::vector<std::string> ids_of(const std::vector<runs::LedgerEntry>& entries) {
  std::vector<std::string> ids;
  for (const auto& entry : entries) ids.push_back(entry.run_id);
  return ids;
}

}  // namespace nl::test
