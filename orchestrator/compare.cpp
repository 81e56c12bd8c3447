#include "orchestrator/compare.h"

#include <future>
#include <utility>

#include "exporters/compare/compare_json.h"
#include "exporters/report/compare/compare.h"
#include "exporters/run_json/run_json.h"
#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/bundle/version.h"
#include "orchestrator/import.h"
#include "orchestrator/import_files.h"
#include "orchestrator/named_run.h"
#include "orchestrator/process/interrupts.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

// Profiles of other tools are JSON, too, and may be large: none of them has this key.
bool is_run_json(const fs::path& path) { return path.extension() == ".json" && read_run_text(path).find("\"schema_version\"") != std::string::npos; }

// A capture as it left its tool: imported, and nothing of it kept.
Run run_of_captures(const fs::path& path, const Config& config, Launcher& launcher) {
  ImportRequest request;
  request.config = config;
  add_input(path, request);
  return import_run(request, launcher);
}

Run run_of(const std::string& name, const CompareRequest& request, Launcher& launcher) {
  std::error_code ignored;
  const bool folder = fs::is_directory(name, ignored);
  const bool capture = fs::exists(name, ignored) && !(folder ? fs::exists(fs::path(name) / "run.json", ignored) : is_run_json(name));
  return capture ? run_of_captures(name, request.config, launcher) : named_run(name, request.ledger);
}

std::vector<Run> runs_named(const std::vector<std::string>& names, const CompareRequest& request, Launcher& launcher) {
  std::vector<Run> runs;
  for (const std::string& name : names) runs.push_back(run_of(name, request, launcher));
  return runs;
}

}  // namespace

Comparison compare_sides(const CompareRequest& request, Launcher& launcher) {
  const Interrupts interrupts;
  // Two processors read two sides in the time of one.
  auto reading = std::async(std::launch::async, [&] { return runs_named(request.b, request, launcher); });
  const std::vector<Run> a = runs_named(request.a, request, launcher);
  const std::vector<Run> b = reading.get();
  return analysis::compare(a, b, request.options);
}

std::vector<std::string> write_comparison(const Comparison& comparison, const fs::path& folder) {
  const std::vector<std::string> names = {"compare.json", "compare.md", "compare.html"};
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw Error(ErrorKind::kOutput, "the folder cannot be made: " + failure.message(), folder.string(), "choose another with --out");
  for (const std::string& name : names)
    if (fs::exists(folder / name, failure)) throw Error(ErrorKind::kOutput, "there is a comparison already", (folder / name).string(), "choose another folder with --out");
  write_file_whole(folder / names[0], exporters::comparison_to_json(comparison));
  write_file_whole(folder / names[1], exporters::comparison_markdown(comparison));
  write_file_whole(folder / names[2], exporters::comparison_html(comparison, version()));
  return names;
}

}  // namespace nl::orchestrator
