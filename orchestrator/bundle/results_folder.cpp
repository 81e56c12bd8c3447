#include "orchestrator/bundle/results_folder.h"

#include <fmt/chrono.h>

#include <chrono>

#include "model/error.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;

fs::path results_folder(const fs::path& asked, const std::string& kind, const std::string& name) {
  if (!asked.empty()) return asked;
  const std::string time =
      fmt::format("{:%Y%m%d-%H%M%S}", fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  return fs::path("artifacts") / kind / (name.empty() ? time : time + "-" + name);
}

void make_results_folder(const fs::path& folder) {
  std::error_code failed;
  if (fs::exists(folder, failed) && !fs::is_empty(folder, failed))
    throw Error(ErrorKind::kOutput, "the folder of the results is not empty", folder.string(), "give a new folder with --out DIR");
  fs::create_directories(folder, failed);
  if (failed)
    throw Error(ErrorKind::kOutput, "the folder of the results cannot be made: " + failed.message(), folder.string(),
                "give another folder with --out DIR");
}

}  // namespace nl::orchestrator
