#pragma once

#include <filesystem>
#include <string>

#include "runs/orchestrator_names.h"

namespace nl::runs {

// A hidden folder beside what is being made, so that a rename puts it in place. The destructor deletes it, and the folders above that
// were made for it, if they are empty. Throws Error(kOutput).
class ScratchFolder {
 public:
  ScratchFolder(const std::filesystem::path& parent, const std::string& purpose);  // PARENT/.PURPOSE-XXXXXX
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_, first_made_;  // first_made_: empty where the parent was there
};

}  // namespace nl::runs
