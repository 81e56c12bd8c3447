#include "runs/archive/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "model/error.h"
#include "orchestrator/bundle/read_run.h"
#include "runs/ledger/bundle_state.h"
#include "runs/ledger/ledger.h"

namespace fs = std::filesystem;

namespace nl::runs {
namespace {

ExportSource source_of_file(const fs::path& file, BundleSource kind) {
  ExportSource source{kind, fs::absolute(file).lexically_normal().parent_path(), read_run_text(file), {}};
  source.run = read_run(source.run_json, file);
  return source;
}

// A bundle's run.json stands for the bundle.
ExportSource source_of_path(const fs::path& path) {
  std::error_code ignored;
  const fs::path file = run_json_of(path);
  const bool bundle = fs::is_directory(path, ignored) ||
                      (file.filename() == "run.json" && fs::exists(fs::absolute(file).parent_path() / kManifestFile, ignored));
  return source_of_file(file, bundle ? BundleSource::kBundle : BundleSource::kRunJson);
}

// Half a bundle is refused as anywhere: its run.json alone would hide that something is missing.
ExportSource source_of_entry(Ledger& ledger, const LedgerEntry& entry) {
  const BundleState state = bundle_state(entry);
  if (state == BundleState::kWhole || state == BundleState::kHalf) return source_of_path(entry.bundle);
  ExportSource source{BundleSource::kLedger, entry.bundle, ledger.run_json(entry.run_id), {}};
  source.run = read_run(source.run_json, fmt::format("{} of {}", entry.run_id, ledger.location()));
  return source;
}

// Opened where the first name asks for it.
class Ledgers {
 public:
  explicit Ledgers(std::string location) : location_(std::move(location)) {}
  ExportSource find(const std::string& name) {
    if (location_.empty())
      throw Error(ErrorKind::kInput, "there is no such bundle, and the ledger is off", name,
                  "give the folder of a bundle, or a ledger with --ledger");
    if (!ledger_) ledger_.emplace(Ledger::open(location_, database::Absent::kRefuse));
    return source_of_entry(*ledger_, ledger_->resolve(name));
  }

 private:
  std::string location_;
  std::optional<Ledger> ledger_;
};

}  // namespace

std::vector<ExportSource> find_sources(const std::vector<std::string>& names, const std::string& ledger_location) {
  Ledgers ledgers(ledger_location);
  std::vector<ExportSource> sources;
  std::map<std::string, fs::path> bundles;  // by run id
  for (const std::string& name : names) {
    std::error_code ignored;
    ExportSource source = fs::exists(name, ignored) ? source_of_path(name) : ledgers.find(name);
    const auto [same, fresh] = bundles.emplace(source.run.run_id, source.bundle);
    if (!fresh && same->second != source.bundle)
      throw Error(ErrorKind::kInput, fmt::format("two bundles are of the run {}", source.run.run_id),
                  fmt::format("{} and {}", same->second.string(), source.bundle.string()), "name one of them");
    if (fresh) sources.push_back(std::move(source));
  }
  return sources;
}

std::vector<ManifestFile> files_of_whole_bundle(const fs::path& bundle) {
  std::vector<ManifestFile> here = files_with_digests(bundle);
  for (const ManifestFile& listed : read_manifest(bundle)) {
    const auto found = std::find_if(here.begin(), here.end(), [&](const ManifestFile& file) { return file.path == listed.path; });
    if (found == here.end())
      throw Error(ErrorKind::kInput, "half a bundle: a file of its manifest is missing", (bundle / listed.path).string(),
                  "use a whole copy of the bundle");
    if (found->size_bytes != listed.size_bytes || (!listed.sha256.empty() && found->sha256 != listed.sha256))
      throw Error(ErrorKind::kInput, "a file of the bundle was changed after its manifest was written", (bundle / listed.path).string(),
                  "use an unchanged copy; `nl-stage report` makes reports, and their lines of the manifest, anew");
  }
  return here;
}

}  // namespace nl::runs
