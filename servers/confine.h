#pragma once

#include <filesystem>
#include <string>

namespace nl::servers {

// The place that `path` means, links resolved; a relative one is relative to `root`, and need not exist. Throws Error(kUsage) where it does not
// lie within `root`.
std::filesystem::path within_root(const std::filesystem::path& root, const std::string& path);

}  // namespace nl::servers
