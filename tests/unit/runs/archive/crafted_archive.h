#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runs/archive/contents.h"

// Archives that nl-stage export would never make, by libarchive itself, and the bundles they are about.
namespace nl::test {

struct CraftedEntry {
  std::string path, text;
  unsigned type = 0100000;  // S_IFREG
  std::string link = {};    // of a symbolic link: where it leads
  std::string hard_link = {};
};

void write_crafted(const std::filesystem::path& file, const std::vector<CraftedEntry>& entries);

// The entries of a whole archive of one run, "run-1", its list first.
std::vector<CraftedEntry> sound_entries();

// The list of these files, as if all were in order: size and sha256 of each.
CraftedEntry list_of(const std::vector<CraftedEntry>& files, const std::vector<std::string>& folders = {"run-1"});

// A bundle of the run in a new folder, with these files beside run.json, and a manifest of all.
std::filesystem::path make_bundle(const std::filesystem::path& folder, const std::string& run_id,
                                  const std::vector<std::pair<std::string, std::string>>& files = {});

// Every path below, sorted; empty where there is no such folder.
std::vector<std::string> paths_below(const std::filesystem::path& folder);

}  // namespace nl::test
