#include "orchestrator/session/model_digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "model/error.h"
#include "orchestrator/bundle/sha256.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

constexpr std::uint64_t kSampledBytes = std::uint64_t{1} << 20, kSampledBlocks = 64;

[[noreturn]] void cannot_read_model(const fs::path& file) { throw Error(ErrorKind::kInput, "the model cannot be read", file.string()); }

std::string sampled_sha256(const fs::path& file, std::uint64_t size) {
  std::ifstream stream(file, std::ios::binary);
  Sha256 hash(*libcrypto());
  hash.add(fmt::format("{}\n", size));
  std::string block;
  const std::uint64_t last = size > kSampledBytes ? size - kSampledBytes : 0;
  for (std::uint64_t n = 0; n < kSampledBlocks; ++n) {
    block.resize(std::min(size, kSampledBytes));
    stream.seekg(
        static_cast<std::streamoff>(last / (kSampledBlocks - 1) * n + (n + 1 == kSampledBlocks ? last % (kSampledBlocks - 1) : 0)));
    if (!stream.read(block.data(), static_cast<std::streamsize>(block.size()))) cannot_read_model(file);
    hash.add(block);
  }
  return hash.hex(file.string());
}

}  // namespace

std::string model_digest(const fs::path& model, const std::vector<std::string>& weight_files, std::uint64_t largest_whole) {
  if (libcrypto() == nullptr) return {};
  try {
    std::vector<std::pair<fs::path, std::uint64_t>> files = {{model, 0}};
    for (const std::string& file : weight_files) files.emplace_back(file, 0);
    std::uint64_t all = 0;
    for (auto& [file, size] : files) {
      if (!fs::is_regular_file(file)) return {};
      all += size = fs::file_size(file);
    }
    std::string digests;
    for (const auto& [file, size] : files) digests += all > largest_whole ? sampled_sha256(file, size) : sha256_file(file);
    return (all > largest_whole ? "sha256-sampled:" : "sha256:") + (files.size() > 1 ? sha256_text(digests) : digests);
  } catch (const Error&) {
  } catch (const fs::filesystem_error&) {
  }
  return {};  // it was run, so that it could be read: it is being replaced
}

}  // namespace nl::orchestrator
