#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/archive_text.h"
#include "cli/ledger_flags.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "orchestrator/config/ledger_location.h"
#include "runs/archive/archive.h"

namespace nl::cli {
namespace {

struct ExportFlags {
  std::vector<std::string> runs, redact;
  std::string out, ledger;
  bool keep_env = false, json = false;
};

int export_archive(const ExportFlags& flags) {
  const auto asked = [&](const char* what) { return std::find(flags.redact.begin(), flags.redact.end(), what) != flags.redact.end(); };
  runs::ExportRequest request{
      flags.runs, flags.out, orchestrator::ledger_location(flags.ledger), {!flags.keep_env, asked("host"), asked("paths")}};
  const runs::ExportResult result = runs::export_runs(request);
  write_answer(flags.json, (flags.json ? export_json(result) : export_text(result)) + "\n");
  std::fflush(stdout);
  return 0;
}

}  // namespace

void add_export(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* verb = app.add_subcommand("export", "Pack runs into one archive, for another machine or for keeping");
  verb->add_option("runs", flags->runs,
                   "folders of bundles, run.json files, or names of the ledger (an id, a name, tag:NAME, last, last~2)")
      ->required()
      ->type_name("RUN");
  verb->add_option("-o,--out", flags->out, "the archive, NAME.nlz or NAME.tar.zst; must not exist")->required()->type_name("FILE");
  verb->add_option("--redact", flags->redact, "remove host names (host), folders of absolute paths (paths), or both (host,paths)")
      ->type_name("WHAT")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"host", "paths"}));
  verb->add_flag("--keep-env", flags->keep_env, "keep environment values, and NVIDIA's report files, which contain them");
  add_ledger_flag(*verb, flags->ledger);
  verb->add_flag("--json", flags->json, "print {archive, size_bytes, unpacked_bytes, redacted, bundles} on stdout");
  verb->footer(
      "The bundles are not changed. A run whose bundle is gone is exported as its run.json from the ledger. `nl-stage import-bundle`\n"
      "unpacks the archive and verifies every file. docs/archives.md describes it.\n"
      "Examples:\n"
      "  nl-stage export last -o nightly.nlz\n"
      "  nl-stage export artifacts/runs/* -o november.tar.zst\n"
      "  nl-stage export tag:release last~1 -o to-vendor.nlz --redact host,paths");
  verb->callback([flags, &action] { action = [flags] { return export_archive(*flags); }; });
}

}  // namespace nl::cli
