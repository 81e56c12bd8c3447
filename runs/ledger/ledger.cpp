#include "runs/ledger/ledger.h"

#include <fmt/format.h>

#include <chrono>

#include "exporters/run_json/run_json.h"
#include "model/error_code.h"
#include "model/identity.h"
#include "orchestrator/bundle/bundle.h"
#include "runs/ledger/full_text.h"
#include "runs/ledger/schema.h"

namespace nl::runs {

using database::Row, database::Transaction;

namespace {

void refuse_odd_tag(const std::string& tag) {
  const bool odd = tag.empty() || tag.find_first_of(" \t\n,:~") != std::string::npos;
  if (odd) throw Error(ErrorKind::kUsage, fmt::format("'{}' is no tag", tag), "tag", "a tag is one word, without , : and ~");
}

// The condition and order of what a retention lets go: all that is older than the last run of its own that is kept. Rounds of try and
// bisect do not count: hundreds of them would take the places of runs. With fewer runs than are kept, there is nothing older.
std::string beyond_condition(const Retention& retention, const char* part_column) {
  const char* counted = retention.keep_tagged ? "number NOT IN (SELECT run FROM tags)" : "1 = 1";
  return fmt::format(
      "WHERE {} AND (created_at, number) < (SELECT created_at, number FROM runs WHERE {} AND {} = '' ORDER BY created_at DESC, number DESC "
      "LIMIT 1 OFFSET {}) "
      "ORDER BY created_at, number",
      counted, counted, part_column, retention.keep_last - 1);
}

}  // namespace

Ledger Ledger::open(const std::string& location, database::Absent absent) {
  if (location.empty())
    throw Error(ErrorKind::kUsage, "no ledger is named", kLedgerVariable,
                "name one with --ledger, or unset NL_STAGE_LEDGER where it is off");
  Ledger ledger(is_postgresql_url(location) ? database::open_postgresql(location) : database::open_sqlite(location, absent));
  try {
    database::migrate(*ledger.connection_, database::ledger_migrations());
  } catch (const Error& error) {
    const auto older = database::older_version(*ledger.connection_);
    if (absent == database::Absent::kMake || error.kind != ErrorKind::kOutput || !older) throw;
    ledger.has_parts_ = *older >= database::kVersionOfParts;
    ledger.has_workloads_ = *older >= database::kVersionOfWorkloads;
    ledger.has_pairs_ = false;
  }
  return ledger;
}

std::int64_t Ledger::number_of(const std::string& run_id) {
  std::int64_t number = -1;
  connection_->select("SELECT number FROM runs WHERE run_id = ?", {run_id}, [&](const Row& row) { number = row.integer(0); });
  if (number < 0)
    throw CodedError(ErrorCode::kNoSuchRun, fmt::format("the ledger has no run '{}'", run_id), location(), "`nl-stage ls` lists the runs");
  return number;
}

std::string Ledger::run_json(const std::string& run_id) {
  std::optional<std::string> text;
  connection_->select("SELECT packing, run_json FROM documents WHERE run = ?", {number_of(run_id)}, [&](const Row& row) {
    if (row.text(0) != database::kPacking)
      throw Error(ErrorKind::kInput, fmt::format("run.json is packed by {}", row.text(0)), location(), "update nl-stage");
    text = database::unpacked(row.bytes(1), fmt::format("{} of {}", run_id, location()));
  });
  if (!text)
    throw CodedError(ErrorCode::kNoRunJson, "the ledger has no run.json of this run", fmt::format("{} of {}", run_id, location()),
                     "use its bundle");
  return *text;
}

namespace {

// Of a run without a run.json that can be read nothing is known.
WorkloadIdentity recorded_identity(Ledger& ledger, const std::string& run_id) {
  try {
    return identity_of(exporters::run_from_json(ledger.run_json(run_id)));
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

void Ledger::make_workloads() {
  if (!has_workloads_) return;
  std::vector<std::string> lacking;
  connection_->select("SELECT run_id FROM runs WHERE workload IS NULL", {}, [&](const Row& row) { lacking.push_back(row.text(0)); });
  for (const std::string& run_id : lacking) {
    const WorkloadIdentity identity = recorded_identity(*this, run_id);
    try {
      connection_->run("UPDATE runs SET workload = ?, workload_text = ? WHERE run_id = ?",
                       {identity_key(identity), identity_text(identity), run_id});
    } catch (const Error& error) {
      if (error.kind == ErrorKind::kOutput) return;  // it may only be read
      throw;
    }
  }
}

std::map<std::string, double> Ledger::metrics(const std::string& run_id) {
  std::map<std::string, double> values;
  connection_->select("SELECT key, value FROM metrics WHERE run = ?", {number_of(run_id)},
                      [&](const Row& row) { values[row.text(0)] = row.number(1); });
  return values;
}

std::vector<LedgerNote> Ledger::notes(const std::string& run_id) {
  std::vector<LedgerNote> notes;
  connection_->select("SELECT written_at, text FROM notes WHERE run = ? ORDER BY number", {number_of(run_id)},
                      [&](const Row& row) { notes.push_back({row.text(0), row.text(1)}); });
  return notes;
}

void Ledger::add_tag(const std::string& run_id, const std::string& tag) {
  refuse_odd_tag(tag);
  Transaction transaction(*connection_);
  const std::int64_t number = number_of(run_id);
  connection_->run("INSERT INTO tags (run, tag) VALUES (?, ?) ON CONFLICT (tag, run) DO NOTHING", {number, tag});
  put_remarks(*connection_, number);
  transaction.commit();
}

void Ledger::remove_tag(const std::string& run_id, const std::string& tag) {
  Transaction transaction(*connection_);
  const std::int64_t number = number_of(run_id);
  connection_->run("DELETE FROM tags WHERE run = ? AND tag = ?", {number, tag});
  put_remarks(*connection_, number);
  transaction.commit();
}

void Ledger::add_note(const std::string& run_id, const std::string& text) {
  Transaction transaction(*connection_);
  const std::int64_t number = number_of(run_id);
  const std::string now = utc_text(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
  connection_->run("INSERT INTO notes (run, written_at, text) VALUES (?, ?, ?)", {number, now, text});
  put_remarks(*connection_, number);
  transaction.commit();
}

void Ledger::remove_row(std::int64_t number) {
  drop_words(*connection_, number);
  connection_->run("DELETE FROM runs WHERE number = ?", {number});
}

void Ledger::remove(const std::string& run_id) {
  Transaction transaction(*connection_);
  remove_row(number_of(run_id));
  transaction.commit();
}

std::vector<LedgerEntry> Ledger::beyond(const Retention& retention) {
  return retention.keep_last > 0 ? select_entries(beyond_condition(retention, part_column()), {}) : std::vector<LedgerEntry>();
}

std::size_t Ledger::apply(const Retention& retention) {
  if (retention.keep_last <= 0) return 0;
  Transaction transaction(*connection_);
  const std::vector<LedgerEntry> entries = beyond(retention);
  for (const LedgerEntry& entry : entries) remove_row(entry.number);
  transaction.commit();
  return entries.size();
}

}  // namespace nl::runs
