#include "parsers/process_files.h"

#include <algorithm>
#include <string>

namespace nl::parsers {
namespace fs = std::filesystem;

std::vector<fs::path> process_files(const fs::path& folder, std::string_view prefix, std::string_view suffix, std::uintmax_t max_bytes) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(suffix) && entry.file_size(failed) <= max_bytes) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace nl::parsers
