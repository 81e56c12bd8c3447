#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace nl::orchestrator {

// Blanks the environment of the profiled processes (and of those around them) in an nsys SQLite export,
// in the three places where nsys puts it: META_DATA_CAPTURE, TARGET_INFO_SYSTEM_ENV and the NUL-separated
// blocks among StringIds. The file is built anew, so that no byte of them is left in it. Returns the values blanked.
std::uint64_t redact_environment(const std::filesystem::path& sqlite_file);

// Replaces every text in any SQLite file that `redacted` returns changed. Returns the number of changed rows.
std::uint64_t redact_texts(const std::filesystem::path& sqlite_file, const std::function<std::string(std::string_view)>& redacted);

}  // namespace nl::orchestrator
