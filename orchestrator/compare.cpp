#include "orchestrator/compare.h"

#include <future>
#include <string_view>
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
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

// A capture as it left its tool: imported, and nothing of it kept.
Run run_of_captures(const fs::path& path, const Config& config, Launcher& launcher) {
  ImportRequest request;
  request.config = config;
  add_input(path, request);
  return import_run(request, launcher);
}

constexpr std::string_view kVersionKey = "\"schema_version\"";  // profiles of other tools are JSON, too: none of them has it

Run run_of(const std::string& name, const CompareRequest& request, Launcher& launcher) {
  const fs::path path = name;
  std::error_code ignored;
  const bool bundle = fs::is_directory(path, ignored) && fs::exists(path / "run.json", ignored);
  if (bundle || !fs::exists(path, ignored)) return named_run(name, request.ledger);
  if (path.extension() == ".json")
    if (const std::string text = read_run_text(path); text.find(kVersionKey) != std::string::npos) return read_run(text, path);
  return run_of_captures(path, request.config, launcher);
}

std::vector<Run> runs_named(const std::vector<std::string>& names, const CompareRequest& request, Launcher& launcher) {
  std::vector<Run> runs;
  for (const std::string& name : names) {
    const Activity reading("reading " + name);
    runs.push_back(run_of(name, request, launcher));
  }
  return runs;
}

}  // namespace

Comparison compare_sides(const CompareRequest& request, Launcher& launcher) {
  const Interrupts interrupts;
  // Two processors read two sides in the time of one.
  auto reading = std::async(std::launch::async, [&] { return runs_named(request.b, request, launcher); });
  const std::vector<Run> a = runs_named(request.a, request, launcher);
  const std::vector<Run> b = reading.get();
  const Activity comparing("comparing");
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
