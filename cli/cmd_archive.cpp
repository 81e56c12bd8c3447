#include <algorithm>
#include <map>

#include "cli/json_output.h"
#include "cli/ledger_flags.h"
#include "cli/value_checks.h"
#include "cli/verbs.h"
#include "exporters/report/text/figure_text.h"
#include "model/error.h"
#include "orchestrator/config/config.h"
#include "orchestrator/config/ledger_location.h"
#include "orchestrator/config/units.h"
#include "runs/archive/archive.h"

// export and import-bundle: runs in one file.
namespace nl::cli {
namespace {

using nlohmann::ordered_json;
using namespace runs;

const char* words_of_source(BundleSource source) {
  switch (source) {
    case BundleSource::kBundle: return "";
    case BundleSource::kRunJson: return " (run.json only)";
    case BundleSource::kLedger: return " (run.json only, from the ledger: the bundle is gone or on another machine)";
  }
  return "";
}

const char* words_of_reason(LeftOutReason reason) {
  switch (reason) {
    case LeftOutReason::kEnvironment: return "contain environment values; --keep-env keeps them";
    case LeftOutReason::kBinary: return "binary, cannot be redacted";
    case LeftOutReason::kLink: return "symbolic links";
  }
  return "";
}

// One line for each reason.
std::string left_out_text(const ArchivedBundle& bundle) {
  std::map<LeftOutReason, std::string> files;
  for (const LeftOutFile& file : bundle.left_out) files[file.reason] += (files[file.reason].empty() ? "" : ", ") + file.path;
  std::string lines;
  for (const auto& [reason, names] : files) lines += fmt::format("\n    left out ({}): {}", words_of_reason(reason), names);
  return lines;
}

ordered_json bundle_json(const ArchivedBundle& bundle) {
  ordered_json left_out = ordered_json::array();
  for (const LeftOutFile& file : bundle.left_out) left_out.push_back({{"path", file.path}, {"reason", key_of(file.reason)}});
  return {{"run_id", bundle.run_id},
          {"name", bundle.name},
          {"folder", bundle.folder},
          {"source", key_of(bundle.source)},
          {"left_out", left_out}};
}

std::string export_text(const ExportResult& result) {
  std::string text = fmt::format("exported {}: {} ({}, {} unpacked)", exporters::plural(result.contents.bundles.size(), "run"),
                                 result.file.string(), exporters::bytes_text(static_cast<double>(result.size_bytes)),
                                 exporters::bytes_text(static_cast<double>(result.unpacked_bytes)));
  for (const ArchivedBundle& bundle : result.contents.bundles)
    text += fmt::format("\n  {}{}{}", bundle.run_id, words_of_source(bundle.source), left_out_text(bundle));
  return text;
}

std::string export_json(const ExportResult& result) {
  ordered_json out = {{"archive", result.file.string()},
                      {"size_bytes", result.size_bytes},
                      {"unpacked_bytes", result.unpacked_bytes},
                      {"redacted", keys_of(result.contents.redacted)},
                      {"bundles", ordered_json::array()}};
  for (const ArchivedBundle& bundle : result.contents.bundles) out["bundles"].push_back(bundle_json(bundle));
  return json_text(out);
}

std::string import_bundle_text(const ImportBundleResult& result) {
  std::string text = fmt::format("imported {}", exporters::plural(result.bundles.size(), "run"));
  for (const ImportedBundle& bundle : result.bundles)
    text += fmt::format("\n  {}{}{}", bundle.folder.string(), words_of_source(bundle.about.source),
                        bundle.was_there ? " (was there already)" : "");
  return text + (result.ledger.empty() ? "\nledger: off, the runs are not recorded" : "\nledger: " + result.ledger);
}

std::string import_bundle_json(const ImportBundleResult& result) {
  ordered_json out = {
      {"ledger", text_or_null(result.ledger)}, {"redacted", keys_of(result.contents.redacted)}, {"bundles", ordered_json::array()}};
  for (const ImportedBundle& bundle : result.bundles) {
    ordered_json each = bundle_json(bundle.about);
    each["folder"] = bundle.folder.string();
    each["was_there"] = bundle.was_there;
    each["recorded"] = bundle.recorded;
    out["bundles"].push_back(each);
  }
  return json_text(out);
}

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
  write_answer(flags.json, flags.json ? export_json(result) : export_text(result) + "\n");
  std::fflush(stdout);
  return 0;
}

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
  write_answer(flags.json, flags.json ? import_bundle_json(result) : import_bundle_text(result) + "\n");
  std::fflush(stdout);
  return 0;
}

}  // namespace

void add_export(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* verb = app.add_subcommand("export", "Pack runs into one archive, for another machine or for keeping");
  verb->add_option("runs", flags->runs, kRunHelp)->required()->type_name("RUN");
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
      ->check(above_zero<double>())
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
