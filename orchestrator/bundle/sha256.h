#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nl::orchestrator {

// OpenSSL's SHA-256. Two sources, of which Meson takes one: libcrypto_linked.cpp where its headers are installed,
// libcrypto_loaded.cpp where they are not: that one opens libcrypto.so.3 when it is needed first.
inline constexpr std::size_t kSha256Bytes = 32;

struct Libcrypto {
  std::string version;  // "OpenSSL 3.0.17 1 Jul 2025"
  void* (*begin)();     // nullptr: out of memory, or not allowed
  bool (*update)(void* context, const void* data, std::size_t size);
  bool (*finish)(void* context, unsigned char* digest);  // kSha256Bytes
  void (*release)(void* context);
};

// nullptr where this machine has none: then nothing has a digest.
const Libcrypto* libcrypto();

// Hashes piece by piece, for data that is read or written anyway.
class Sha256 {
 public:
  explicit Sha256(const Libcrypto& library);
  void add(std::string_view piece);
  std::string hex(const std::string& of_what);  // once, after the last piece

 private:
  const Libcrypto* library_;
  std::unique_ptr<void, void (*)(void*)> context_;
  bool whole_;
};

// The digest in hexadecimal, by OpenSSL; empty where this machine has no libcrypto. Error(kInput) where the file cannot be read.
// `meanwhile` is called after each MiB.
std::string sha256_file(const std::filesystem::path& file, const std::function<void()>& meanwhile = {});
std::string sha256_text(std::string_view text);
// Of files below a folder, "./a/b" each: the digest of what sha256sum prints of them.
std::string sha256_listing(const std::filesystem::path& folder, const std::vector<std::string>& files,
                           const std::function<void()>& meanwhile = {});
// Of a capture: of a file itself, or of the files in a folder, in the order of their names.
std::string sha256_capture(const std::filesystem::path& path);

}  // namespace nl::orchestrator
