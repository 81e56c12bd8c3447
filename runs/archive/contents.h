#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/words.h"
#include "orchestrator/bundle/bundle.h"
#include "runs/orchestrator_names.h"

// archive.json: the first file of an archive, and the list of all others.
//   {"format": "nl-stage archive", "version": 1, "created_at": …, "nl_stage": "0.1.0",
//    "redacted": ["environment", "host", "paths"],
//    "bundles": [{"folder", "run_id", "name", "source": "bundle", "left_out": [{"path", "reason"}]}],
//    "files": [{"path": "FOLDER/run.json", "size_bytes", "sha256"}]}
namespace nl::runs {

inline constexpr const char* kContentsFile = "archive.json";

enum class BundleSource {
  kBundle,   // its folder
  kRunJson,  // a run.json without a bundle around it
  kLedger,   // the ledger's run.json: the bundle is gone, or on another machine
};

enum class LeftOutReason {
  kEnvironment,  // NVIDIA's reports hold the target's environment, which only NVIDIA's tools could blank
  kBinary,       // host names and paths are blanked in texts and in SQLite only
  kLink,         // what it leads to is not the bundle's
};

struct LeftOutFile {
  std::string path;  // relative to the bundle
  LeftOutReason reason = LeftOutReason::kEnvironment;
};

struct ArchivedBundle {
  std::string folder, run_id, name;
  BundleSource source = BundleSource::kBundle;
  std::vector<LeftOutFile> left_out = {};
};

struct Redactions {
  bool environment = true, host = false, paths = false;
};

struct ArchiveContents {
  std::string created_at, nl_stage_version;
  Redactions redacted;
  std::vector<ArchivedBundle> bundles;
  std::vector<ManifestFile> files;  // paths begin with a bundle's folder
};

std::vector<std::string> keys_of(const Redactions& redacted);

std::string contents_text(const ArchiveContents& contents);

// Reads and checks archive.json. Error(kInput) where it is wrong or of a version that this nl-stage cannot read; `where` is the archive.
ArchiveContents read_contents(const std::string& text, const std::string& where);

// Error(kInput) unless each path stays inside the folder of a bundle, and is there once.
void check_contents(const ArchiveContents& contents, const std::string& where);

// Why a path of an archive cannot be unpacked safely; empty: it can. "../x", "/x", "a//b", "a/./b", control characters, over-long names.
std::string unsafe_path_reason(std::string_view path);

}  // namespace nl::runs

namespace nl {

template <>
inline constexpr auto kKeys<runs::BundleSource> = std::to_array<std::string_view>({"bundle", "run.json", "ledger"});
template <>
inline constexpr auto kKeys<runs::LeftOutReason> = std::to_array<std::string_view>({"environment", "binary", "link"});

}  // namespace nl
