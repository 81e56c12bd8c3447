#include "cli/archive_text.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "exporters/report/text/figure_text.h"

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

std::string dumped(const ordered_json& json) { return json.dump(2, ' ', false, ordered_json::error_handler_t::replace); }

}  // namespace

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
  return dumped(out);
}

std::string import_bundle_text(const ImportBundleResult& result) {
  std::string text = fmt::format("imported {}", exporters::plural(result.bundles.size(), "run"));
  for (const ImportedBundle& bundle : result.bundles)
    text += fmt::format("\n  {}{}{}", bundle.folder.string(), words_of_source(bundle.about.source),
                        bundle.was_there ? " (was there already)" : "");
  return text + (result.ledger.empty() ? "\nledger: off, the runs are not recorded" : "\nledger: " + result.ledger);
}

std::string import_bundle_json(const ImportBundleResult& result) {
  ordered_json out = {{"ledger", result.ledger.empty() ? ordered_json() : ordered_json(result.ledger)},
                      {"redacted", keys_of(result.contents.redacted)},
                      {"bundles", ordered_json::array()}};
  for (const ImportedBundle& bundle : result.bundles) {
    ordered_json each = bundle_json(bundle.about);
    each["folder"] = bundle.folder.string();
    each["was_there"] = bundle.was_there;
    each["recorded"] = bundle.recorded;
    out["bundles"].push_back(each);
  }
  return dumped(out);
}

}  // namespace nl::cli
