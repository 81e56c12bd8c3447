#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "cli/exit_status.h"
#include "cli/print_result.h"
#include "cli/verbs.h"
#include "model/error.h"
#include "orchestrator/bundle/schema.h"

namespace nl::cli {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || fs::is_directory(file)) throw Error(ErrorKind::kInput, "the file cannot be read", file.string(), "give a run.json or the folder of a bundle");
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

// Every file is looked at, also after a wrong one; the status is that of the first wrong one.
int validate(const std::vector<std::string>& files) {
  int status = 0;
  for (const std::string& name : files) {
    fs::path file = name;
    if (fs::is_directory(file) && fs::exists(file / "run.json")) file /= "run.json";
    try {
      orchestrator::validate_run_json(read_file(file), file.string());
      fmt::print("{}: valid\n", file.string());
    } catch (const Error& error) {
      print_error(error);
      if (status == 0) status = exit_status_of(error.kind);
    }
  }
  return status;
}

}  // namespace

void add_validate(CLI::App& app, std::function<int()>& action) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* verb = app.add_subcommand("validate", "Check run.json files against their schema");
  verb->add_option("files", *files, "run.json files, or the folders of bundles")->type_name("FILE")->required();
  verb->footer(
      "All files are checked. Each wrong file is named with the place of its first fault. A file in an older format is only\n"
      "reported as such.\n"
      "Examples:\n"
      "  nl-stage validate run.json\n"
      "  nl-stage validate artifacts/runs/*/run.json");
  verb->callback([files, &action] { action = [files] { return validate(*files); }; });
}

}  // namespace nl::cli
