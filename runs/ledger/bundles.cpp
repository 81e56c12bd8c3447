#include "runs/ledger/bundles.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/error.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/process/activity.h"

namespace nl::runs {
namespace fs = std::filesystem;

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

Run named_run(const std::string& name, const std::string& ledger) {
  std::error_code ignored;
  if (fs::exists(name, ignored)) {
    const fs::path file = run_json_of(name);
    return read_run(read_run_text(file), file);
  }
  try {
    Ledger opened = Ledger::open(ledger_location(ledger), database::Absent::kRefuse);
    const LedgerEntry entry = opened.resolve(name);
    return read_run(opened.run_json(entry.run_id), fmt::format("{} in {}", entry.run_id, opened.location()));
  } catch (const Error& error) {
    throw Error(ErrorKind::kInput, "neither a file nor a run of the ledger: " + error.message, name,
                "name a bundle, its run.json, or a run as `nl-stage ls` lists it");
  }
}

std::string_view word_of(BundleState state) {
  switch (state) {
    case BundleState::kWhole: return "whole";
    case BundleState::kHalf: return "incomplete";
    case BundleState::kOther: return "replaced by another run";
    case BundleState::kGone: return "not here";
  }
  return "";
}

BundleState bundle_state(const LedgerEntry& entry) {
  std::error_code ignored;
  if (entry.bundle.empty() || !fs::is_directory(entry.bundle, ignored)) return BundleState::kGone;
  std::ifstream manifest(entry.bundle / "manifest.json");
  const auto json = nlohmann::json::parse(manifest, nullptr, false);
  const std::string run_id = json.is_object() ? json.value("run_id", "") : "";
  if (!fs::exists(entry.bundle / "run.json", ignored) || run_id.empty()) return BundleState::kHalf;
  return run_id == entry.run_id ? BundleState::kWhole : BundleState::kOther;
}

void delete_bundle(const LedgerEntry& entry) {
  if (const BundleState state = bundle_state(entry); state != BundleState::kWhole)
    throw Error(ErrorKind::kInput, fmt::format("the bundle of {} is {}: nothing was deleted", entry.run_id, word_of(state)),
                entry.bundle.string(), "remove the record alone, without --bundles");
  std::error_code failure;
  fs::remove_all(entry.bundle, failure);
  if (failure)
    throw Error(ErrorKind::kOutput, fmt::format("the bundle cannot be deleted: {}", failure.message()), entry.bundle.string(),
                "check who owns the folder");
}

}  // namespace nl::runs
