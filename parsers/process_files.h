#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string_view>
#include <vector>

namespace nl::parsers {

// The files that the processes of a run leave in a folder, "facts-4711.json", by name; larger ones than `max_bytes` are none of ours.
std::vector<std::filesystem::path> process_files(const std::filesystem::path& folder, std::string_view prefix, std::string_view suffix,
                                                 std::uintmax_t max_bytes = std::numeric_limits<std::uintmax_t>::max());

}  // namespace nl::parsers
