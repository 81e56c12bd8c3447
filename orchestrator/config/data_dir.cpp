#include "orchestrator/config/data_dir.h"

#include <cstdlib>

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

bool is_conf_folder(const fs::path& folder) {
  std::error_code failed;
  return fs::is_directory(folder / "runner", failed) && fs::is_directory(folder / "profiling", failed);
}

}  // namespace

fs::path program_folder() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return failed ? fs::path() : program.parent_path();
}

std::vector<fs::path> conf_folders() {
  std::vector<fs::path> candidates;
  if (const char* data = std::getenv("NL_STAGE_DATA"); data && *data) {
    candidates.push_back(fs::path(data));
    candidates.push_back(fs::path(data) / "conf");
  }
  const fs::path program = program_folder();
  candidates.push_back(program.parent_path() / "share" / "nl-stage" / "conf");
  for (fs::path above = program; above.has_relative_path(); above = above.parent_path())
    candidates.push_back(above / "conf");
  std::vector<fs::path> found;
  for (const auto& candidate : candidates)
    if (is_conf_folder(candidate)) found.push_back(candidate);
  return found;
}

fs::path conf_folder_of(const fs::path& file) {
  std::error_code failed;
  fs::path above = fs::absolute(file, failed).lexically_normal().parent_path();
  for (; above.has_relative_path(); above = above.parent_path())
    if (is_conf_folder(above)) return above;
  return {};
}

}  // namespace nl::orchestrator
