#pragma once

#include <filesystem>
#include <string>

namespace nl::orchestrator {

// In hexadecimal, by OpenSSL; empty where this machine has no libcrypto. Error(kInput) where the file cannot be read.
std::string sha256_file(const std::filesystem::path& file);

}  // namespace nl::orchestrator
