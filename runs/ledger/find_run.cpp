#include "runs/ledger/find_run.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <string_view>

#include "model/error_code.h"
#include "model/shell.h"
#include "orchestrator/bundle/read_run.h"
#include "runs/orchestrator_names.h"

namespace nl::runs {
namespace fs = std::filesystem;
namespace {

constexpr const char* kNamesOfRuns = "name a bundle, its run.json, or a run as `nl-stage ls` lists it";

bool is_bundle(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) && fs::exists(path / "run.json", ignored);
}

// Files of other tools are JSON, too, and may have gigabytes: our own tells its version at its beginning.
bool is_run_json(const fs::path& file) {
  constexpr std::string_view kVersionKey = "\"schema_version\"";
  if (file.filename() == "run.json") return true;
  if (file.extension() != ".json") return false;
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 1 << 16> block{};
  std::string last;  // a key may lie on the seam of two blocks
  while (stream.read(block.data(), block.size()), stream.gcount() > 0) {
    last.append(block.data(), static_cast<std::size_t>(stream.gcount()));
    if (last.find(kVersionKey) != std::string::npos) return true;
    last.erase(0, last.size() - std::min(last.size(), kVersionKey.size()));
  }
  return false;
}

// Of a path that may also be a run's name: a folder without a bundle, and what does not exist.
FoundRun find_in_ledger(const std::string& name, const std::string& location) {
  if (ledger_is_off(location))
    throw CodedError(ErrorCode::kNoSuchRun, "there is no such bundle, and the ledger is off", name,
                     "give the folder of a bundle, or a ledger with --ledger");
  std::string opened = ledger_location(location);
  LedgerEntry entry = Ledger::open(opened, database::Absent::kRefuse).resolve(name);
  const fs::path bundle = entry.bundle;
  return {RunPlace::kLedger, bundle, std::move(entry), std::move(opened)};
}

[[noreturn]] void throw_not_found(const std::string& name, const std::string& ledger, const Error& error) {
  if (ledger_is_off(ledger)) throw error;
  throw CodedError(ErrorCode::kNoSuchRun, "neither a file nor a run of the ledger: " + error.message, name, kNamesOfRuns);
}

}  // namespace

fs::path FoundRun::run_json() const { return place == RunPlace::kBundle ? path / "run.json" : path; }

FoundRun find_run(const std::string& name, const std::string& ledger) {
  std::error_code ignored;
  const bool exists = !name.empty() && !is_of_ledger(name) && fs::exists(name, ignored);
  if (exists && is_bundle(name)) return {RunPlace::kBundle, name};
  if (exists && !fs::is_directory(name, ignored)) return {is_run_json(name) ? RunPlace::kRunJson : RunPlace::kCapture, name};
  try {
    return find_in_ledger(name, ledger);
  } catch (const Error& error) {
    if (!exists) throw_not_found(name, ledger, error);
  }
  return {RunPlace::kCapture, name};
}

RunText run_text_of(const FoundRun& found) {
  switch (found.place) {
    case RunPlace::kBundle:
    case RunPlace::kRunJson: return {read_run_text(found.run_json()), found.run_json()};
    case RunPlace::kLedger: {
      Ledger ledger = Ledger::open(found.ledger, database::Absent::kRefuse);
      return {ledger.run_json(found.entry->run_id), fmt::format("{} in {}", found.entry->run_id, ledger.location())};
    }
    case RunPlace::kCapture: break;
  }
  std::error_code ignored;
  const bool folder = fs::is_directory(found.path, ignored);
  throw CodedError(ErrorCode::kNoRunJson, folder ? "there is no run.json" : "this is no run.json", found.path.string(),
                   fmt::format("{}; `nl-stage import {}` makes a bundle of captures", kNamesOfRuns, shell_quoted(found.path.string())));
}

Run read_found(const FoundRun& found) {
  const RunText text = run_text_of(found);
  return read_run(text.text, text.where);
}

Run named_run(const std::string& name, const std::string& ledger) { return read_found(find_run(name, ledger)); }

fs::path place_of(const std::string& name, const std::string& ledger) {
  const FoundRun found = find_run(name, ledger);
  std::error_code ignored;
  if (fs::exists(found.path, ignored)) return found.path;
  throw CodedError(
      ErrorCode::kBundleGone, "the run's bundle is not there any more", found.path.string(),
      fmt::format("name the folder to which it was moved; `nl-stage show {} --run-json > run.json` writes what the ledger keeps of it",
                  shell_quoted(name)));
}

std::optional<LedgerEntry> recorded_entry(const Run& run, Ledger& ledger) {
  if (run.run_id.empty()) return std::nullopt;
  return ledger.find(run.run_id);
}

LedgerEntry recorded_entry(const std::string& name, Ledger& ledger) {
  std::error_code ignored;
  const bool path = !is_of_ledger(name) && fs::exists(name, ignored);
  if (!path || (fs::is_directory(name, ignored) && !is_bundle(name))) return ledger.resolve(name);
  const Run run = read_found({is_bundle(name) ? RunPlace::kBundle : is_run_json(name) ? RunPlace::kRunJson : RunPlace::kCapture, name});
  if (auto entry = recorded_entry(run, ledger)) return *std::move(entry);
  throw CodedError(ErrorCode::kNoSuchRun, fmt::format("the ledger has no record of {}", run.run_id.empty() ? "this run" : run.run_id), name,
                   fmt::format("`nl-stage record {}` records it", shell_quoted(name)));
}

}  // namespace nl::runs
