#include "orchestrator/capture/marks.h"

#include <vector>

namespace fs = std::filesystem;

namespace nl::orchestrator {

void write_marks(const Bundle& bundle) {
  for (const BuiltInFile& file : kBuiltInPython) bundle.write(fs::path(kMarksFolder) / file.path, file.text);
}

void drop_compiled_marks(const Bundle& bundle) {
  std::error_code ignored;
  std::vector<fs::path> caches;
  for (const auto& entry : fs::recursive_directory_iterator(bundle.path() / kMarksFolder, ignored))
    if (entry.path().filename() == "__pycache__") caches.push_back(entry.path());
  for (const fs::path& cache : caches) fs::remove_all(cache, ignored);
}

}  // namespace nl::orchestrator
