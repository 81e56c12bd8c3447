#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

// One file of a run, out of an archive that stays packed.
namespace nl::runs {

// Archives where a bundle was: NAME.nlz and NAME.tar.zst beside its folder, then others there that have the run; empty: none.
std::filesystem::path archive_beside(const std::filesystem::path& bundle, const std::string& run_id);

// Its bytes, as archive.json lists them; nothing where the archive has no such run or file, or the file is larger than `most_bytes`. Throws
// Error(kInput) where the archive is damaged, kTool without libarchive.
std::optional<std::string> archived_file(const std::filesystem::path& archive, const std::string& run_id, const std::string& name,
                                         std::uint64_t most_bytes);

}  // namespace nl::runs
