#include "orchestrator/import_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/error.h"
#include "model/shell.h"
#include "orchestrator/capture/marks.h"
#include "orchestrator/session/session.h"
#include "parsers/input_files.h"
#include "parsers/registry.h"
#include "parsers/stacks/stacks.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

using parsers::Gives;

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void add(const parsers::Format& format, const fs::path& file, ImportRequest& request) {
  auto& files = request.files[std::string(format.name)];
  if (format.most_files == 1 && !files.empty())
    throw Error(ErrorKind::kUsage, fmt::format("two captures of one kind are given ({})", format.name),
                fmt::format("{} and {}", files[0].string(), file.string()), "import them one at a time");
  files.push_back(file);
}

void add(Gives gives, const fs::path& file, ImportRequest& request) {
  for (const parsers::Format* format : parsers::formats())
    if (format->gives == gives) return add(*format, file, request);
}

// False where no format knows it.
bool add_file(const fs::path& file, ImportRequest& request) {
  const parsers::Format* format = parsers::sniff(file);
  if (format != nullptr) add(*format, file, request);
  return format != nullptr;
}

// The nsys export or the collector's traces, then what counted kernels; the rest of a bundle is made of these.
void add_bundle(const fs::path& bundle, ImportRequest& request) {
  const fs::path sqlite = bundle / "nsys" / "run.sqlite", report = bundle / "nsys" / "run.nsys-rep";
  std::error_code ignored;
  if (fs::exists(sqlite, ignored) || fs::exists(report, ignored))
    add(Gives::kNsysExport, fs::exists(sqlite, ignored) ? sqlite : report, request);
  else
    for (const auto& file : files_in(bundle / "collector"))
      if (const parsers::Format* format = parsers::sniff(file); format && format->gives == Gives::kCollectorTraces)
        add(*format, file, request);
  for (const char* page : {"first-raw.csv", "raw.csv"})
    if (fs::exists(bundle / "ncu" / page, ignored)) add(Gives::kNcuLaunches, bundle / "ncu" / page, request);
  for (const char* counted : {"stages", "kernels", "kernels-2"})
    for (const auto& file : files_in(bundle / "counters" / counted)) add(Gives::kCounters, file, request);
  request.operators = bundle / kOperatorsFolder;
  request.session = bundle / kSessionRecord;
  for (const auto& file : parsers::stack_files(bundle / kFactsFolder)) add(Gives::kHostStacks, file, request);
}

// What to do with a file of no known format.
std::string advice_on(const fs::path& file) {
  const parsers::FileHead head(file);
  if (head.starts_with(parsers::kGzipMagic)) return "unpack it first: gunzip --keep " + shell_quoted(file.string());
  if (head.starts_with(parsers::kZstdMagic)) return "an archive of nl-stage export: nl-stage import-bundle " + shell_quoted(file.string());
  return "give " + known_formats();
}

}  // namespace

std::string known_formats() {
  std::string all;
  for (const parsers::Format* format : parsers::formats())
    if (!format->known_as.empty()) all += fmt::format("{}, ", format->known_as);
  return all + "or a bundle";
}

void add_input(const fs::path& path, ImportRequest& request) {
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw Error(ErrorKind::kInput, "there is no such file or folder", path.string(), "give the path of a capture");
  if (!fs::is_directory(path, ignored)) {
    if (add_file(path, request)) return;
    throw Error(ErrorKind::kInput, "no format that nl-stage reads", path.string(), advice_on(path));
  }
  const std::size_t before = request.all_files().size();
  if (fs::exists(path / "run.json", ignored)) add_bundle(path, request);
  else
    for (const auto& file : files_in(path)) add_file(file, request);
  if (request.all_files().size() == before)
    throw Error(ErrorKind::kInput, "the folder has no capture in it", path.string(),
                "give the folder that holds the exports, or the files themselves");
}

}  // namespace nl::orchestrator
