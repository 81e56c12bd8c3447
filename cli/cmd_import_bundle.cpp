#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <functional>
#include <memory>

#include "cli/archive_text.h"
#include "cli/ledger_flags.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "model/error.h"
#include "orchestrator/config/config.h"
#include "orchestrator/config/ledger_location.h"
#include "orchestrator/config/units.h"
#include "runs/archive/archive.h"

namespace nl::cli {
namespace {

struct ImportBundleFlags {
  std::string archive, ledger, max_size = "64GiB";
  std::string out = orchestrator::ArtifactOptions().dir;
  runs::ArchiveLimits limits;
  bool json = false;
};

int import_archive(const ImportBundleFlags& flags) {
  runs::ImportBundleRequest request{flags.archive, flags.out, orchestrator::ledger_location(flags.ledger), flags.limits};
  const auto total = orchestrator::bytes_in(flags.max_size);
  if (!total)
    throw Error(ErrorKind::kUsage, "'" + flags.max_size + "' is no size", "--max-size", "write 500MB, 64GiB or a number of bytes");
  request.limits.total_bytes = *total;
  const runs::ImportBundleResult result = runs::import_bundle(request);
  write_answer(flags.json, (flags.json ? import_bundle_json(result) : import_bundle_text(result)) + "\n");
  std::fflush(stdout);
  return 0;
}

}  // namespace

void add_import_bundle(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<ImportBundleFlags>();
  CLI::App* verb = app.add_subcommand("import-bundle", "Unpack an archive of runs, verify it, and record the runs in the ledger");
  verb->add_option("archive", flags->archive, "what nl-stage export made")->required()->type_name("FILE");
  verb->add_option("--out", flags->out, "folder that the bundles are put into, each in a folder named by its run id")
      ->type_name("DIR")
      ->capture_default_str();
  add_ledger_flag(*verb, flags->ledger);
  verb->add_option("--max-size", flags->max_size, "refuse an archive that is larger when it is unpacked")
      ->type_name("SIZE")
      ->capture_default_str();
  verb->add_option("--max-ratio", flags->limits.ratio, "refuse an archive that is packed tighter than this many to 1")
      ->type_name("N")
      ->capture_default_str();
  verb->add_option("--max-files", flags->limits.files, "refuse an archive with more files")->type_name("N")->capture_default_str();
  verb->add_flag("--json", flags->json, "print {ledger, redacted, bundles} on stdout");
  verb->footer(
      "All runs are imported, or none. Run ids are kept. A run that the ledger has already must be the same. The exit status is 3 if the "
      "archive\n"
      "is damaged, incomplete, changed or unsafe.\n"
      "Examples:\n"
      "  nl-stage import-bundle nightly.nlz\n"
      "  nl-stage import-bundle november.tar.zst --out /data/bundles --json\n"
      "  nl-stage import-bundle huge.nlz --max-size 500GB --ledger off");
  verb->callback([flags, &action] { action = [flags] { return import_archive(*flags); }; });
}

}  // namespace nl::cli
