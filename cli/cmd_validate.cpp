#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/ledger_flags.h"
#include "cli/print_result.h"
#include "cli/verbs.h"
#include "model/error_code.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/bundle/schemas.h"
#include "runs/ledger/find_run.h"

namespace nl::cli {
namespace {

namespace fs = std::filesystem;

struct ValidateFlags {
  std::vector<std::string> files;
  std::string schema, ledger;
  bool json = false;
};

constexpr const char* kStandardInput = "-";

// A file of any kind, standard input, or the run.json of a RUN.
runs::RunText text_named(const std::string& name, const std::string& ledger) {
  std::error_code ignored;
  if (name == kStandardInput) return {std::string(std::istreambuf_iterator<char>(std::cin), {}), "standard input"};
  if (fs::is_regular_file(name, ignored)) return {orchestrator::read_run_text(name), name};
  if (fs::path(name).extension() == ".json")
    throw CodedError(ErrorCode::kNoSuchFile, "the file cannot be read", name, "give a run.json or the folder of a bundle");
  return runs::run_text_of(runs::find_run(name, ledger));
}

struct Validity {
  fs::path file;
  std::optional<CodedError> fault;
};

Validity validity_of(const std::string& name, const ValidateFlags& flags) {
  fs::path file = name;
  try {
    const runs::RunText named = text_named(name, flags.ledger);
    file = named.where;
    if (!flags.schema.empty()) {
      orchestrator::validate_by_schema(flags.schema, named.text, file.string());
      return {file, std::nullopt};
    }
    orchestrator::validate_run_json(named.text, file.string());
    orchestrator::refuse_contradictions(named.text, file.string());
    return {file, std::nullopt};
  } catch (const Error& error) {
    return {file, CodedError(code_of(error), error.message, error.where, error.fix)};
  }
}

void print_validity(const Validity& validity) {
  if (validity.fault) print_error(*validity.fault);
  else write_out("{}: valid\n", validity.file.string());
}

// Every file is looked at, also after a wrong one; the status is that of the first wrong one.
int validate(const ValidateFlags& flags) {
  if (!flags.schema.empty()) orchestrator::schema_named(flags.schema);  // one that does not exist is no fault of the files
  int status = 0;
  auto list = nlohmann::ordered_json::array();
  for (const std::string& name : flags.files) {
    const Validity validity = validity_of(name, flags);
    if (validity.fault && status == 0) status = exit_status_of(validity.fault->kind);
    if (!flags.json) print_validity(validity);
    list.push_back({{"file", validity.file.string()},
                    {"valid", !validity.fault},
                    {"error", validity.fault ? error_json(*validity.fault) : nlohmann::ordered_json()}});
  }
  if (flags.json) write_json({{"files", list}, {"exit_status", status}});
  return status;
}

}  // namespace

void add_validate(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<ValidateFlags>();
  CLI::App* verb = app.add_subcommand(
      "validate", "Check run.json, compare.json, suite.json and answers against their schemas, and runs for contradictions");
  verb->add_option("files", flags->files,
                   "run.json, compare.json or suite.json files, answers of --json, - for standard input, or runs as other verbs take them")
      ->type_name("RUN")
      ->required();
  verb->add_option("--schema", flags->schema, "against this schema (nl-stage schema lists them); default: that of the file's kind")
      ->type_name("SCHEMA");
  add_ledger_flag(*verb, flags->ledger);
  verb->add_flag("--json", flags->json, "print {files: [{file, valid, error}], exit_status}");
  verb->footer(
      "All files are checked. Each wrong file is named with the place of its first fault. A file in an older format is only\n"
      "reported as such.\n"
      "Examples:\n"
      "  nl-stage validate run.json\n"
      "  nl-stage ls --json > ls.json && nl-stage validate --schema ls ls.json\n"
      "  nl-stage validate last\n"
      "  nl-stage show last --json | nl-stage validate -\n"
      "  nl-stage validate artifacts/runs/*/run.json");
  verb->callback([flags, &action] { action = [flags] { return validate(*flags); }; });
}

}  // namespace nl::cli
