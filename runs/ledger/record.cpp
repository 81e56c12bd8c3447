#include <fmt/format.h>

#include <chrono>

#include "model/identity.h"
#include "model/run_metrics.h"
#include "model/shell.h"
#include "model/words.h"
#include "orchestrator/bundle/bundle.h"
#include "runs/ledger/full_text.h"
#include "runs/ledger/ledger.h"
#include "runs/ledger/schema.h"

namespace nl::runs {
namespace {

using database::Bytes, database::Connection, database::Row, database::Value, database::Values;

struct Column {
  const char* name;
  Value value;
  bool stays = false;  // where an empty text would replace it
};

std::string now_text() { return utc_text(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now())); }

// "2026-11-15T01:02:03.250Z" → "2026-11-15T01:02:03Z", so that texts compare as times do. Imports may not know it.
std::string whole_seconds(const std::string& time) { return time.size() < 20 ? now_text() : time.substr(0, 19) + "Z"; }

std::vector<Column> columns_of(const Run& run, const std::filesystem::path& bundle, const std::string& part_of) {
  const auto& repository = run.workload.repository;
  const auto& gpus = run.hardware.gpus;
  const WorkloadIdentity identity = identity_of(run);
  return {{"run_id", run.run_id},
          {"created_at", whole_seconds(run.created_at)},
          {"recorded_at", now_text()},
          {"name", run.name},
          {"mode", run.mode},
          {"status", std::string(key_of(run.status))},
          {"model", identity[IdentityPart::kModel]},
          {"precision", run.model.precision},
          {"backend", run.session ? run.session->backend : run.software.backend.name()},
          {"gpu", gpus.empty() ? std::string() : gpus.front().name},
          {"gpu_count", static_cast<std::int64_t>(gpus.size())},
          {"hardware", hardware_key(run)},
          {"workload", identity_key(identity)},
          {"workload_text", identity_text(identity)},
          {"revision", repository ? repository->revision : std::string()},
          {"modified", repository && repository->modified ? Value(static_cast<std::int64_t>(*repository->modified)) : Value(nullptr)},
          {"command", shell_quoted(run.workload.command)},
          {"part_of", part_of, true},
          {"bundle", bundle.empty() ? std::string() : std::filesystem::absolute(bundle).lexically_normal().string()}};
}

// The number of the run's row, new or replaced.
std::int64_t put_row(Connection& connection, const std::vector<Column>& columns) {
  std::string names, marks, replaced;
  Values values;
  for (const Column& column : columns) {
    const char* comma = names.empty() ? "" : ", ";
    names += comma + std::string(column.name);
    marks += std::string(comma) + "?";
    replaced += fmt::format(fmt::runtime(column.stays ? "{0}{1} = COALESCE(NULLIF(excluded.{1}, ''), runs.{1})" : "{0}{1} = excluded.{1}"),
                            comma, column.name);
    values.push_back(column.value);
  }
  std::int64_t number = 0;
  connection.select(
      fmt::format("INSERT INTO runs ({}) VALUES ({}) ON CONFLICT (run_id) DO UPDATE SET {} RETURNING number", names, marks, replaced),
      values, [&](const Row& row) { number = row.integer(0); });
  return number;
}

// In one statement: over a network each one is a journey.
void put_metrics(Connection& connection, std::int64_t number, const Run& run) {
  connection.run("DELETE FROM metrics WHERE run = ?", {number});
  std::string rows;
  Values values;
  for (const RunMetric& metric : run_metrics(run)) {
    rows += rows.empty() ? "(?, ?, ?)" : ", (?, ?, ?)";
    values.insert(values.end(), {number, metric.key, metric.value});
  }
  if (!rows.empty()) connection.run("INSERT INTO metrics (run, key, value) VALUES " + rows + " ON CONFLICT (key, run) DO NOTHING", values);
}

}  // namespace

void Ledger::record(const Run& run, std::string_view run_json, const std::filesystem::path& bundle, const std::string& part_of) {
  const std::vector<Column> columns = columns_of(run, bundle, part_of);
  const std::vector<std::string> words = words_of_run(run);
  std::string document = database::packed(run_json);
  database::Transaction transaction(*connection_);
  const std::int64_t number = put_row(*connection_, columns);
  put_metrics(*connection_, number, run);
  connection_->run(
      "INSERT INTO documents (run, packing, run_json) VALUES (?, ?, ?) "
      "ON CONFLICT (run) DO UPDATE SET packing = excluded.packing, run_json = excluded.run_json",
      {number, std::string(database::kPacking), Bytes{std::move(document)}});
  connection_->run("DELETE FROM fingerprints WHERE run = ?", {number});
  put_words(*connection_, number, words);
  put_remarks(*connection_, number);  // a run that is recorded again has its tags and notes
  transaction.commit();
}

}  // namespace nl::runs
