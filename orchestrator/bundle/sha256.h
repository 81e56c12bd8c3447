#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace nl::orchestrator {

// In hexadecimal, by OpenSSL; empty where this machine has no libcrypto. Error(kInput) where the file cannot be read.
// `meanwhile` is called after each MiB.
std::string sha256_file(const std::filesystem::path& file, const std::function<void()>& meanwhile = {});
std::string sha256_text(std::string_view text);

}  // namespace nl::orchestrator
