#include "runs/ledger/pairs.h"

#include <chrono>
#include <set>
#include <vector>

#include "analysis/figures/capture/capture_tables.h"
#include "analysis/replay/interval_scale.h"
#include "model/error.h"
#include "model/run_metrics.h"
#include "model/words.h"
#include "orchestrator/bundle/bundle.h"
#include "runs/ledger/ledger.h"

namespace nl::runs {
namespace {

constexpr const char* kPairColumns =
    "recorded_at, hardware, workload, workload_text, stage, changes, kind, tracer, interval_scale, predicted_ratio, low_ratio, high_ratio, "
    "measured_ratio, measured_low, measured_high";

PredictionPair pair_in(const database::Row& row) {
  PredictionPair pair;
  int column = 0;
  for (std::string* text :
       {&pair.recorded_at, &pair.hardware, &pair.workload, &pair.workload_text, &pair.stage, &pair.changes, &pair.kind, &pair.tracer})
    *text = row.text(column++);
  for (double* number : {&pair.interval_scale, &pair.predicted_ratio, &pair.low_ratio, &pair.high_ratio, &pair.measured_ratio})
    *number = row.number(column++);
  for (std::optional<double>* bound : {&pair.measured_low_ratio, &pair.measured_high_ratio}) {
    if (!row.is_null(column)) *bound = row.number(column);
    ++column;
  }
  return pair;
}

database::Value bound_value(const std::optional<double>& number) { return number ? database::Value(*number) : database::Value(nullptr); }

// As that of the run that is made of it.
std::string hardware_of(const Evidence& evidence) {
  Run run;
  run.hardware = evidence.hardware;
  run.hardware.gpus = analysis::gpus_of(evidence.trace);
  std::set<std::int32_t> devices;
  for (const Kernel& kernel : evidence.trace.kernels) devices.insert(evidence.trace.queues[kernel.queue].device);
  run.kernels.emplace();
  for (const std::int32_t device : devices) run.kernels->emplace_back().device = device;
  return hardware_key(run);
}

}  // namespace

void Ledger::record_pair(const PredictionPair& pair) {
  const std::string now = utc_text(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
  connection_->run(std::string("INSERT INTO prediction_pairs (") + kPairColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                   {pair.recorded_at.empty() ? now : pair.recorded_at, pair.hardware, pair.workload, pair.workload_text, pair.stage,
                    pair.changes, pair.kind, pair.tracer, pair.interval_scale, pair.predicted_ratio, pair.low_ratio, pair.high_ratio,
                    pair.measured_ratio, bound_value(pair.measured_low_ratio), bound_value(pair.measured_high_ratio)});
}

std::vector<PredictionPair> Ledger::pairs(const std::string& hardware) {
  std::vector<PredictionPair> pairs;
  if (!has_pairs_) return pairs;
  const std::string from = std::string("SELECT ") + kPairColumns + " FROM prediction_pairs";
  const auto keep = [&](const database::Row& row) { pairs.push_back(pair_in(row)); };
  if (hardware.empty()) connection_->select(from + " ORDER BY number", {}, keep);
  else connection_->select(from + " WHERE hardware = ? ORDER BY number", {hardware}, keep);
  return pairs;
}

std::string tracer_text(SourceFormat format) {
  if (format == SourceFormat::kNone) return {};
  return std::string(format == SourceFormat::kNsysSqlite ? key_of(Tracer::kNsys) : key_of(format));
}

PredictionOrigin prediction_origin(const Evidence& evidence, const std::string& ledger) {
  PredictionOrigin origin{hardware_of(evidence), tracer_text(evidence.trace.stats.source_format)};
  const std::string location = ledger_location(ledger);
  if (location.empty() || origin.hardware.empty()) return origin;
  try {
    const std::vector<PredictionPair> pairs = Ledger::open(location, database::Absent::kRefuse).pairs(origin.hardware);
    origin.interval_scale = analysis::interval_scale(pairs);
    origin.pairs = pairs.size();
  } catch (const Error&) {
    // predictions need no ledger: their intervals stay as shipped
  }
  return origin;
}

}  // namespace nl::runs
