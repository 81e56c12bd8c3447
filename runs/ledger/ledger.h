#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/prediction_pair.h"
#include "model/run.h"
#include "orchestrator/config/ledger_location.h"
#include "runs/ledger/connection.h"

// The runs that were made, on this machine or by a team: what they were, their figures, and the run.json of each, so that they can be
// listed, compared and drawn when their bundles are gone or on another machine. docs/ledger.md
namespace nl::runs {

struct LedgerEntry {
  std::int64_t number = 0;                // of this ledger alone
  std::string run_id, created_at;         // RFC 3339, UTC, whole seconds
  std::string name, mode, status;         // status as run.json has it: "complete", "partial" …
  std::string model, precision, backend;  // empty: not known
  std::string gpu;                        // of the first GPU; empty: none
  std::int64_t gpu_count = 0;
  std::string hardware;                 // hardware_key(): "2 x NVIDIA H200", the CPU's model without a GPU
  std::string workload, workload_text;  // identity_key() and identity_text(); empty: not known
  std::string revision;                 // of the workload's repository; empty: none
  std::optional<bool> modified;
  std::string command;
  std::string part_of;           // "try", "bisect" or "suite" of their rounds and timing runs; empty: a run of its own
  std::filesystem::path bundle;  // where it was made; may be gone, or on another machine
  std::vector<std::string> tags;
  std::map<std::string, double> metrics;  // those that the filter names, where the run has them
};

// One value of a metric, with the fields that say which series it belongs to.
struct LedgerValue {
  std::string run_id, created_at, revision, hardware, model, precision, workload, workload_text, command;
  double value = 0;
};

// Where a run stands in the list of all.
struct LedgerKey {
  std::string created_at;
  std::int64_t number = 0;
};

struct LedgerNote {
  std::string written_at, text;
};

// All given conditions must hold. Case does not matter; for model, gpu and revision a part of the text is enough.
struct LedgerFilter {
  std::string words =
      {};  // each of them, or the beginning of a word, somewhere in names, model, GPU, command, kernels, findings, tags, notes
  std::string name = {}, mode = {}, status = {}, model = {}, gpu = {}, precision = {}, backend = {}, revision = {};
  std::string workload = {};              // the beginning of its key
  std::string since = {}, until = {};     // "2026-11-16" or "2026-11-16T12:00:00Z", both included
  std::vector<std::string> tags = {};     // all of them
  std::vector<std::string> metrics = {};  // keys of model/run_metrics.h to tell with each run
  bool only_with_metrics = false;         // leave out runs that lack one of them
  bool parts = false;                     // also the rounds of try and bisect, and the timing runs of suites
  std::string part_of = {};               // only parts of this: "suite"; with `parts`
  std::optional<LedgerKey> after = {};    // only runs that come behind this one, as query() lists them: its next page
  std::size_t limit = 0;                  // the newest so many; 0: all
};

// What --since and --until take, as LedgerFilter has it: "2026-11-16" and "2026-11-16T12:00:00Z" as they are; "90m", "24h", "7d" so long before
// now. Throws Error(kUsage).
std::string moment_text(const std::string& text, const std::string& flag, std::chrono::system_clock::time_point now);

struct Retention {
  std::int64_t keep_last = 0;  // runs of their own; 0: everything stays
  bool keep_tagged = true;     // those do not count, and stay
};

class Ledger {
 public:
  // Makes the database and brings it to this version's schema where that is asked for. Throws Error: kInput where the location holds
  // something else or a newer ledger (or none, with kRefuse), kOutput where it cannot be reached or written.
  static Ledger open(const std::string& location, database::Absent absent = database::Absent::kMake);

  const std::string& location() const { return connection_->location(); }

  // Records a finished run. A run that is recorded already is replaced; its tags and notes stay, and part_of where none is given.
  void record(const Run& run, std::string_view run_json, const std::filesystem::path& bundle, const std::string& part_of = {});

  // Newest first.
  std::vector<LedgerEntry> query(const LedgerFilter& filter);

  // The newest complete run of each workload on each hardware, the newest first. Rounds and timing runs do not count.
  std::vector<LedgerEntry> latest_by_workload(std::size_t most);

  // A metric of the runs that have it, oldest first. Of the filter, metrics and limit are not used.
  void each_value(const LedgerFilter& filter, const std::string& metric, const std::function<void(const LedgerValue&)>& each);
  std::vector<std::string> metric_keys();  // that some run has

  // The workloads of runs that were recorded by versions which did not know them.
  void make_workloads();

  // A run id, a unique beginning of one, a run's name or tag:NAME (of several runs the newest), last, last~2 (the third newest).
  // Throws Error(kInput) where there is none, or a beginning fits several.
  LedgerEntry resolve(const std::string& name);
  std::optional<LedgerEntry> find(const std::string& run_id);  // the run of just this id
  std::string run_json(const std::string& run_id);             // Error(kInput) where it is not known
  std::map<std::string, double> metrics(const std::string& run_id);
  std::vector<LedgerNote> notes(const std::string& run_id);  // oldest first

  // Predictions and what came of them. `hardware`: of this one alone; empty: of all, oldest first.
  void record_pair(const PredictionPair& pair);
  std::vector<PredictionPair> pairs(const std::string& hardware = {});

  void add_tag(const std::string& run_id, const std::string& tag);
  void remove_tag(const std::string& run_id, const std::string& tag);
  void add_note(const std::string& run_id, const std::string& text);
  void remove(const std::string& run_id);                       // the record; the bundle stays
  std::vector<LedgerEntry> beyond(const Retention& retention);  // what it would remove, oldest first
  std::size_t apply(const Retention& retention);                // how many were removed

  database::Connection& connection() { return *connection_; }

 private:
  explicit Ledger(std::unique_ptr<database::Connection> connection) : connection_(std::move(connection)) {}
  std::int64_t number_of(const std::string& run_id);
  std::vector<LedgerEntry> select_entries(const std::string& conditions, const database::Values& values);
  void remove_row(std::int64_t number);
  const char* part_column() const { return has_parts_ ? "part_of" : "''"; }
  const char* workload_columns() const { return has_workloads_ ? "COALESCE(workload, ''), COALESCE(workload_text, '')" : "'', ''"; }

  std::unique_ptr<database::Connection> connection_;
  bool has_parts_ = true, has_workloads_ = true, has_pairs_ = true;  // false: of an older version, and read-only
};

}  // namespace nl::runs
