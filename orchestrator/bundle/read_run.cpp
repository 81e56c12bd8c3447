#include "orchestrator/bundle/read_run.h"

#include <array>
#include <fstream>
#include <iterator>

#include "analysis/trace/kernel_class.h"
#include "exporters/run_json/run_json.h"
#include "model/error_code.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {

fs::path run_json_of(const fs::path& bundle) {
  std::error_code ignored;
  const fs::path file = fs::is_directory(bundle, ignored) ? bundle / "run.json" : bundle;
  if (!fs::exists(file, ignored))
    throw CodedError(ErrorCode::kNoRunJson, "there is no run.json", file.string(),
                     "name a bundle's folder or its run.json; `nl-stage import` makes a bundle from captures");
  return file;
}

std::string read_run_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  std::array<char, 1 << 16> block;
  while (stream.read(block.data(), block.size()), stream.gcount() > 0) text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
  // Bad: a folder of that name, or a disk that fails.
  if (stream.bad() || !stream.eof())
    throw CodedError(ErrorCode::kNoSuchFile, "the file cannot be read", file.string(), "check that it is a file that you may read");
  return text;
}

// The reader knows the place inside the file, not the file's name.
Run read_run(const std::string& text, const fs::path& file) {
  try {
    Run run = exporters::run_from_json(text);
    if (run.schema_version == kRunSchemaVersion || !run.kernels) return run;
    // A file of an earlier format may not say what its kernels do. The name says it, as where a capture is analysed.
    for (KernelEntry& kernel : *run.kernels)
      if (kernel.kind == KernelClass::kOther) kernel.kind = analysis::classify_kernel(kernel.name);
    return run;
  } catch (Error& error) {
    constexpr std::string_view kName = "run.json";
    if (error.where.starts_with(kName)) error.where = file.string() + error.where.substr(kName.size());
    throw;
  }
}

}  // namespace nl::orchestrator
