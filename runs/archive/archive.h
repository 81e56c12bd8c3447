#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runs/archive/contents.h"

// Runs in one file, for another machine or for keeping: `nl-stage export` and `nl-stage import-bundle`. docs/archives.md
namespace nl::runs {

struct ExportRequest {
  std::vector<std::string> runs;  // folders of bundles, run.json files, or names of the ledger
  std::filesystem::path out;      // NAME.nlz or NAME.tar.zst, not there yet
  std::string ledger_location;    // empty: none
  Redactions redacted;
};

struct ExportResult {
  std::filesystem::path file;
  std::uintmax_t size_bytes = 0, unpacked_bytes = 0;
  ArchiveContents contents;
};

// Writes the whole archive or nothing. Throws Error: kInput where a run is not found, damaged or only half there, kOutput where
// the archive exists or cannot be written, kTool without libarchive or libcrypto, kInterrupted.
ExportResult export_runs(const ExportRequest& request);

// The files in the folder. Error(kInput) names the first file of its manifest that is missing or was changed since. `may_lack`: of a file that may
// be missing.
std::vector<ManifestFile> files_of_whole_bundle(const std::filesystem::path& bundle,
                                                const std::function<bool(const std::filesystem::path& file)>& may_lack = {});

// Beyond these an archive is refused: it may be made to fill the disk.
struct ArchiveLimits {
  std::uint64_t total_bytes = std::uint64_t{64} << 30;
  double ratio = 1000;  // unpacked to packed; JSON and CSV of long captures reach 50
  std::uint64_t files = 100'000;
};

struct ImportBundleRequest {
  std::filesystem::path archive;
  std::filesystem::path out;    // a folder of bundles
  std::string ledger_location;  // empty: not recorded
  ArchiveLimits limits;
};

struct ImportedBundle {
  ArchivedBundle about;
  std::filesystem::path folder;
  bool was_there = false;  // the same bundle, before
  bool recorded = false;   // false: the ledger is off, or has the same run with a bundle that is still there
};

struct ImportBundleResult {
  ArchiveContents contents;
  std::vector<ImportedBundle> bundles;
  std::string ledger;  // for messages; empty: none
};

// Imports all runs or none: where one is refused, nothing is left behind. Throws Error: kInput where the archive is damaged, was
// changed, is cut short or hostile, or where the ledger or the folder has another run of the same id; kOutput; kTool; kInterrupted.
ImportBundleResult import_bundle(const ImportBundleRequest& request);

}  // namespace nl::runs
