#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace nl::orchestrator {

// Files of up to so many bytes, all together, are hashed whole, which takes about a second. Of more, 64 blocks of 1 MiB of each file count,
// evenly spread from its first byte to its last, with its size: weights that were trained further differ in every block.
inline constexpr std::uint64_t kLargestHashedWhole = std::uint64_t{1} << 30;

// "sha256:…" of a model file; "sha256-sampled:…" of a large one. With files beside it that have its weights, a digest of the digests of
// all. Empty: this machine has no libcrypto, or a file cannot be read.
std::string model_digest(const std::filesystem::path& model, const std::vector<std::string>& weight_files,
                         std::uint64_t largest_whole = kLargestHashedWhole);

}  // namespace nl::orchestrator
