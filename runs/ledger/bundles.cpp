#include "runs/ledger/bundles.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "model/error_code.h"
#include "model/input_bounds.h"
#include "model/visible_text.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/process/activity.h"

namespace nl::runs {
namespace fs = std::filesystem;

namespace {

LedgerRecord write_to_ledger(const LedgerOptions& options, const std::function<void(Ledger&)>& write) {
  const std::string location = ledger_location(options.path);
  if (!options.enabled || ledger_is_off(options.path)) return {};
  if (location.empty())
    return {"", Error(ErrorKind::kOutput, "there is no folder for it: neither HOME nor XDG_DATA_HOME is set", kLedgerVariable,
                      "name the ledger with --ledger or NL_STAGE_LEDGER, or switch it off: --ledger off")};
  try {
    Ledger ledger = Ledger::open(location);
    write(ledger);
    return {ledger.location(), std::nullopt};
  } catch (const Error& error) {
    return {"", error};
  } catch (const std::exception& broken) {  // out of memory, a file system that fails: the run stands
    return {"", Error(ErrorKind::kInternal, broken.what(), without_password(location))};
  }
}

}  // namespace

LedgerRecord record_run(const LedgerOptions& options, const Run& run, std::string_view run_json, const fs::path& bundle) {
  const Activity recording("recording the run in the ledger");
  return write_to_ledger(options, [&](Ledger& ledger) {
    ledger.record(run, run_json, bundle, options.part_of);
    ledger.apply({options.keep_last, options.keep_tagged});
  });
}

LedgerRecord record_pair(const LedgerOptions& options, const PredictionPair& pair) {
  return write_to_ledger(options, [&](Ledger& ledger) { ledger.record_pair(pair); });
}

orchestrator::RecordRun LaterRecord::keep() {
  return [kept = kept_](const LedgerOptions& options, const Run&, std::string_view run_json, const fs::path& bundle) {
    *kept = Kept{options, std::string(run_json), bundle};
    return LedgerRecord{};
  };
}

LedgerRecord LaterRecord::record(const Run& run) const {
  return *kept_ ? record_run((*kept_)->options, run, (*kept_)->run_json, (*kept_)->bundle) : LedgerRecord{};
}

RecordedBundle record_bundle(Ledger& ledger, const fs::path& bundle) {
  const fs::path file = run_json_of(bundle);
  const std::string text = read_run_text(file);
  const Run run = read_run(text, file);
  const auto begin = std::chrono::steady_clock::now();
  ledger.record(run, text, file.parent_path());
  return {run.run_id, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count()};
}

std::string_view word_of(BundleState state) {
  switch (state) {
    case BundleState::kWhole: return "whole";
    case BundleState::kPart: return "files are missing";
    case BundleState::kHalf: return "incomplete";
    case BundleState::kOther: return "replaced by another run";
    case BundleState::kGone: return "not here";
  }
  return "";
}

namespace {

// Empty where the manifest is missing or damaged.
std::string run_id_of_manifest(const fs::path& file) {
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  try {
    const auto json = nlohmann::json::parse(json_within_bounds(text, file.string()));
    return json.value("run_id", "");
  } catch (const nlohmann::json::exception&) {
    return {};
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

BundleState bundle_state(const LedgerEntry& entry) {
  std::error_code ignored;
  if (entry.bundle.empty() || !fs::is_directory(entry.bundle, ignored)) return BundleState::kGone;
  const std::string run_id = run_id_of_manifest(entry.bundle / kManifestFile);
  if (!fs::exists(entry.bundle / "run.json", ignored) || run_id.empty()) return BundleState::kHalf;
  if (run_id != entry.run_id) return BundleState::kOther;
  return missing_files(entry.bundle).empty() ? BundleState::kWhole : BundleState::kPart;
}

std::vector<std::string> missing_files(const fs::path& bundle) {
  std::vector<std::string> missing;
  std::error_code ignored;
  try {
    for (const ManifestFile& file : read_manifest(bundle))
      if (!fs::exists(bundle / file.path, ignored)) missing.push_back(file.path);
  } catch (const Error&) {
    return {};  // damaged: the bundle is half
  }
  return missing;
}

namespace {

// What of a whole bundle is the run's and what is not, by the paths of its manifest.
struct BundleFiles {
  fs::path folder;               // without links
  std::vector<fs::path> listed;  // of those that are there
  std::vector<fs::path> others;  // a folder with nothing of the run in it stands for all that is below it
  std::vector<fs::path> folders;
};

// A manifest may come from elsewhere: no path of it may lead out of the bundle, by ".." or by a folder that is a link.
void check_inside(const fs::path& folder, const std::string& listed) {
  const fs::path path = fs::path(listed).lexically_normal(), up = "..";
  std::error_code ignored;
  const fs::path parent = fs::weakly_canonical(folder / path.parent_path(), ignored);
  const bool below = std::mismatch(folder.begin(), folder.end(), parent.begin(), parent.end()).first == folder.end();
  if (!path.empty() && path.is_relative() && *path.begin() != up && below) return;
  throw Error(ErrorKind::kInput, fmt::format("the manifest names a file outside the bundle: {}; nothing was deleted", visible_line(listed)),
              (folder / kManifestFile).string(), "remove the record alone, without --bundles");
}

BundleFiles files_of_bundle(const fs::path& bundle) {
  BundleFiles files{fs::canonical(bundle), {}, {}, {}};
  std::set<fs::path> own{files.folder / kManifestFile}, own_folders;
  for (const ManifestFile& file : read_manifest(files.folder)) {
    check_inside(files.folder, file.path);
    own.insert((files.folder / file.path).lexically_normal());
  }
  for (const fs::path& file : own)
    for (fs::path parent = file.parent_path(); parent != files.folder && own_folders.insert(parent).second;) parent = parent.parent_path();
  for (auto at = fs::recursive_directory_iterator(files.folder); at != fs::end(at); ++at) {
    const bool folder = at->is_directory() && !at->is_symlink();
    if (folder && !own_folders.contains(at->path()) && !fs::is_empty(at->path())) {
      files.others.push_back(at->path());
      at.disable_recursion_pending();
    } else if (folder) {
      files.folders.push_back(at->path());
    } else {
      (own.contains(at->path()) ? files.listed : files.others).push_back(at->path());
    }
  }
  std::sort(files.others.begin(), files.others.end());
  return files;
}

BundleFiles own_bundle_files(const LedgerEntry& entry) {
  if (const BundleState state = bundle_state(entry); state != BundleState::kWhole && state != BundleState::kPart)
    throw Error(ErrorKind::kInput, fmt::format("the bundle of {} is {}: nothing was deleted", entry.run_id, word_of(state)),
                entry.bundle.string(), "remove the record alone, without --bundles");
  return files_of_bundle(entry.bundle);
}

// The manifest last: what is left of a deletion that fails can be deleted again.
void delete_files(BundleFiles files) {
  const fs::path manifest = files.folder / kManifestFile;
  std::erase(files.listed, manifest);
  for (const fs::path& file : files.listed) fs::remove(file);
  fs::remove(manifest);
  // The deepest first. One with something in it stays.
  std::sort(files.folders.begin(), files.folders.end(), std::greater<>());
  files.folders.push_back(files.folder);
  for (const fs::path& folder : files.folders)
    if (fs::is_empty(folder)) fs::remove(folder);
}

}  // namespace

std::vector<fs::path> not_of_the_run(const LedgerEntry& entry) { return own_bundle_files(entry).others; }

std::vector<fs::path> delete_bundle(const LedgerEntry& entry) {
  try {
    BundleFiles files = own_bundle_files(entry);
    delete_files(files);
    return files.others;
  } catch (const fs::filesystem_error& failure) {
    throw Error(ErrorKind::kOutput, fmt::format("the bundle cannot be deleted: {}", failure.code().message()), failure.path1().string(),
                "check who owns the folder");
  }
}

}  // namespace nl::runs
