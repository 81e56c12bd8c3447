#include "runs/ledger/bundle_state.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "model/error.h"

namespace fs = std::filesystem;

namespace nl::runs {

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
