#include "runs/trial/predicted.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "exporters/whatif/whatif.h"
#include "model/error.h"
#include "model/identity.h"
#include "model/run_metrics.h"
#include "orchestrator/bundle/read_run.h"
#include "runs/ledger/find_run.h"
#include "runs/ledger/pairs.h"
#include "runs/orchestrator_names.h"

namespace nl::runs {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kRunVersionKey = "\"schema_version\"";  // a run.json has it, what whatif prints has not

// A capture may be gigabytes of something else: it is not read.
bool begins_as_json(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return (stream >> std::ws).peek() == '{';
}

std::string json_text_of(const fs::path& file) {
  if (begins_as_json(file)) return read_run_text(file);
  throw Error(ErrorKind::kInput, "it is neither the JSON of whatif nor a run.json", file.string(),
              fmt::format("write the prediction first: nl-stage whatif {} --json > whatif.json", file.string()));
}

exporters::WrittenPredictions predictions_of(const Run& run, const std::string& from) {
  if (!run.what_if || run.what_if->predictions.empty())
    throw Error(ErrorKind::kInput, "the run has no predictions", from,
                fmt::format("write one first: nl-stage whatif {} --json > whatif.json, then --predicted whatif.json", from));
  return {run.what_if->predictions, {hardware_key(run), tracer_text(run.import_stats.source_format)}};
}

exporters::WrittenPredictions predictions_in(const std::string& from, const std::string& ledger) {
  const FoundRun found = find_run(from, ledger);
  if (found.place != RunPlace::kCapture) return predictions_of(read_found(found), from);
  std::error_code ignored;
  if (fs::is_directory(from, ignored)) return predictions_of(read_found(found), from);  // says that there is no run.json
  const std::string text = json_text_of(from);
  if (text.find(kRunVersionKey) != std::string::npos) return predictions_of(read_run(text, from), from);
  return exporters::predictions_from_json(text, from);
}

// The time of its windows, unprofiled where both sides have that.
const CompareLine* line_of_stage(const Comparison& comparison, const std::string& stage) {
  const CompareLine* found = nullptr;
  for (const CompareLine& line : comparison.stages.lines) {
    if (line.stage != stage || !line.change) continue;
    if (line.figure == CompareFigure::kWall && found == nullptr) found = &line;
    if (line.figure == CompareFigure::kUnprofiledWall && line.p_value) found = &line;
  }
  return found;
}

std::optional<double> ratio_of(const std::optional<double>& log_ratio) {
  return log_ratio ? std::optional(std::exp(*log_ratio)) : std::nullopt;
}

}  // namespace

AskedPrediction asked_prediction(const std::string& from, const std::string& ledger) {
  exporters::WrittenPredictions written = predictions_in(from, ledger);
  // A ceiling says what is possible, not what a change brings.
  const auto usable = [](const Prediction& each) {
    return !each.refused && !each.ceiling && !each.changes.empty() && each.unperturbed_ns > 0 && each.low_ns > 0;
  };
  const auto first = std::find_if(written.predictions.begin(), written.predictions.end(), usable);
  if (first == written.predictions.end())
    throw Error(ErrorKind::kInput,
                written.predictions.empty() ? "it has no predictions" : "it has no prediction that could be tried: all were refused", from,
                "ask for another change; nl-stage whatif RUN lists those that apply");
  return {from, *first, std::move(written.origin), written.predictions.size()};
}

std::optional<PredictionPair> pair_of(const AskedPrediction& asked, const Comparison& comparison, const Run& a) {
  const Prediction& prediction = asked.prediction;
  const CompareLine* line = line_of_stage(comparison, prediction.stage);
  if (line == nullptr) return std::nullopt;
  const WorkloadIdentity identity = identity_of(a);
  PredictionPair pair;
  pair.hardware = asked.origin.hardware.empty() ? hardware_key(a) : asked.origin.hardware;
  pair.workload = identity_key(identity);
  pair.workload_text = identity_text(identity);
  pair.stage = prediction.stage;
  pair.changes = fmt::format("{}", fmt::join(prediction.changes, " "));
  pair.kind = kind_of_changes(prediction.changes);
  pair.tracer = asked.origin.tracer;
  pair.interval_scale = asked.origin.interval_scale;
  pair.predicted_ratio = prediction.predicted_ns / prediction.unperturbed_ns;
  pair.low_ratio = prediction.low_ns / prediction.unperturbed_ns;
  pair.high_ratio = prediction.high_ns / prediction.unperturbed_ns;
  pair.measured_ratio = std::exp(line->change->log_ratio);
  pair.measured_low_ratio = ratio_of(line->change->low);
  pair.measured_high_ratio = ratio_of(line->change->high);
  return pair;
}

}  // namespace nl::runs
