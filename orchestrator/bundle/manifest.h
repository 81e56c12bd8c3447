#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/run.h"

// manifest.json of a bundle: what belongs to it, and how it must look.
namespace nl::orchestrator {

inline constexpr const char* kManifestFile = "manifest.json";

struct ManifestFile {
  std::string path;  // relative to the bundle
  std::uintmax_t size_bytes = 0;
  std::string sha256;  // empty: the machine had no libcrypto
};

// Every file below the folder, but the manifest itself, by path.
std::vector<ManifestFile> files_with_digests(const std::filesystem::path& folder);

// The files, with tool versions, exit statuses and durations of the run.
std::string manifest_text(const Run& run, const std::vector<ManifestFile>& files);

// Throws Error(kInput) where it is missing or damaged.
std::vector<ManifestFile> read_manifest(const std::filesystem::path& bundle);

}  // namespace nl::orchestrator
