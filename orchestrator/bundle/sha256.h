#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace nl::orchestrator {

struct Libcrypto;

// Piece by piece, for what is read or written anyway.
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

// In hexadecimal, by OpenSSL; empty where this machine has no libcrypto. Error(kInput) where the file cannot be read.
// `meanwhile` is called after each MiB.
std::string sha256_file(const std::filesystem::path& file, const std::function<void()>& meanwhile = {});
std::string sha256_text(std::string_view text);

}  // namespace nl::orchestrator
