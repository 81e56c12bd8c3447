#include "orchestrator/import_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/words.h"
#include "parsers/registry.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void set_only(fs::path& place, const fs::path& file, SourceFormat format) {
  if (!place.empty())
    throw Error(ErrorKind::kUsage, fmt::format("two captures of one kind are given ({})", key_of(format)),
                fmt::format("{} and {}", place.string(), file.string()), "import them one at a time");
  place = file;
}

// False where no format knows it.
bool add_file(const fs::path& file, ImportRequest& request) {
  const SourceFormat format = parsers::sniff(file);
  switch (format) {
    case SourceFormat::kNsysSqlite:
    case SourceFormat::kNsysReport: set_only(request.nsys, file, format); return true;
    case SourceFormat::kNcu:
    case SourceFormat::kNcuReport: request.ncu.push_back(file); return true;
    case SourceFormat::kCollector: request.collector.push_back(file); return true;
    case SourceFormat::kKineto: set_only(request.kineto, file, format); return true;
    case SourceFormat::kOnnxRuntime: request.ort.push_back(file); return true;
    case SourceFormat::kTrtexec: request.trtexec.insert(request.trtexec.begin(), file); return true;  // before its layers
    case SourceFormat::kTrtexecLayers: request.trtexec.push_back(file); return true;
    case SourceFormat::kBundle:
    case SourceFormat::kNone: break;
  }
  return false;
}

// The nsys export or the collector's traces, then what counted kernels; the rest of a bundle is made of these.
void add_bundle(const fs::path& bundle, ImportRequest& request) {
  const fs::path sqlite = bundle / "nsys" / "run.sqlite", report = bundle / "nsys" / "run.nsys-rep";
  std::error_code ignored;
  if (fs::exists(sqlite, ignored) || fs::exists(report, ignored))
    set_only(request.nsys, fs::exists(sqlite, ignored) ? sqlite : report, SourceFormat::kNsysSqlite);
  else
    for (const auto& file : files_in(bundle / "collector"))
      if (parsers::sniff(file) == SourceFormat::kCollector) request.collector.push_back(file);
  for (const char* page : {"first-raw.csv", "raw.csv"})
    if (fs::exists(bundle / "ncu" / page, ignored)) request.ncu.push_back(bundle / "ncu" / page);
  for (const char* counted : {"stages", "kernels", "kernels-2"})
    for (const auto& file : files_in(bundle / "counters" / counted)) request.counters.push_back(file);
}

}  // namespace

void add_input(const fs::path& path, ImportRequest& request) {
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw Error(ErrorKind::kInput, "there is no such file or folder", path.string(), "give the path of a capture");
  if (!fs::is_directory(path, ignored)) {
    if (add_file(path, request)) return;
    throw Error(ErrorKind::kInput, "no format that nl-stage reads", path.string(),
                "give an nsys SQLite or .nsys-rep, an ncu CSV or .ncu-rep, a torch.profiler, ONNX Runtime or trtexec JSON, a collector trace, or a bundle");
  }
  const std::size_t before = request.files().size();
  if (parsers::sniff(path) == SourceFormat::kBundle)
    add_bundle(path, request);
  else
    for (const auto& file : files_in(path)) add_file(file, request);
  if (before == 0 && request.files().empty())
    throw Error(ErrorKind::kInput, "the folder has no capture in it", path.string(), "give the folder that holds the exports, or the files themselves");
}

}  // namespace nl::orchestrator
