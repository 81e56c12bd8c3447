#include "orchestrator/run_captures.h"

#include <algorithm>
#include <string>

#include "model/error.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/bundle/sha256.h"
#include "orchestrator/capture/pass_runner.h"
#include "parsers/registry.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

bool has_captures(const fs::path& bundle) {
  std::error_code ignored;
  if (fs::exists(bundle / "nsys" / "run.sqlite", ignored) || fs::exists(bundle / "nsys" / "run.nsys-rep", ignored)) return true;
  const auto files = collector_files(bundle / "collector");  // an import leaves an export there, which lacks the stacks
  return std::any_of(files.begin(), files.end(), [](const fs::path& file) {
    const parsers::Format* format = parsers::sniff(file);
    return format != nullptr && format->gives == parsers::Gives::kCollectorTraces;
  });
}

// Another file of that name would answer for another run.
void add_imported(const fs::path& bundle, ImportRequest& request) {
  request.partial_ranks = true;  // as the import was, or it would not be there
  const Run run = read_run(read_run_text(bundle / "run.json"), bundle / "run.json");
  for (const auto& [file, digest] : run.provenance.inputs_sha256) {
    std::error_code ignored;
    const bool there = fs::exists(file, ignored);
    const std::string now = there ? sha256_capture(file) : "";
    if (!there || (!now.empty() && !digest.empty() && now != digest))
      throw Error(ErrorKind::kInput,
                  there ? "the capture that the bundle was imported from has changed"
                        : "the capture that the bundle was imported from is not there any more",
                  file, "name the capture itself, or import it again with --copy, which keeps a copy in the bundle");
    add_input(file, request);
  }
}

}  // namespace

void add_captures_of(const fs::path& run, ImportRequest& request) {
  std::error_code ignored;
  const bool is_run_json = run.filename() == "run.json" && fs::is_regular_file(run, ignored);
  const fs::path place = is_run_json ? fs::absolute(run).parent_path() : run;
  if (fs::is_regular_file(place / "run.json", ignored) && !has_captures(place)) add_imported(place, request);
  if (request.files.empty()) add_input(place, request);
}

}  // namespace nl::orchestrator
