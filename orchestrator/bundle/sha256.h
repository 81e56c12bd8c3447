#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace nl::orchestrator {

// SHA-256 (FIPS 180-4), with the processor's own instructions where it has them: a manifest covers
// gigabytes of reports.
class Sha256 {
 public:
  Sha256();
  void update(const void* data, std::size_t size);
  std::string hex();  // ends it

  using Compress = void (*)(std::uint32_t* state, const std::uint8_t* blocks, std::size_t count);
  static void compress_portable(std::uint32_t* state, const std::uint8_t* blocks, std::size_t count);
  static Compress compress_native();  // nullptr where the processor has no such instructions
  explicit Sha256(Compress compress);

 private:
  Compress compress_;
  std::array<std::uint32_t, 8> state_;
  std::array<std::uint8_t, 64> pending_;
  std::size_t pending_size_ = 0;
  std::uint64_t total_bytes_ = 0;
};

std::string sha256_hex(std::string_view text);
std::string sha256_file(const std::filesystem::path& file);  // Error(kInput) where it cannot be read

}  // namespace nl::orchestrator
