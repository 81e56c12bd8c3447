#include "runs/archive/staging.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "exporters/report/reports.h"
#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/bundle/redact.h"
#include "orchestrator/bundle/sha256.h"
#include "runs/archive/redaction.h"

namespace fs = std::filesystem;

namespace nl::runs {
namespace {

// What a bundle's name becomes wherever it is unpacked; run ids of other tools may hold anything.
std::string folder_of(const std::string& run_id) {
  std::string folder;
  for (const char c : run_id.substr(0, 200))
    folder += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-' ? c : '-';
  return folder.empty() || folder.front() == '.' ? "run" + folder : folder;
}

bool holds_environment(const fs::path& file) {
  const std::string extension = file.extension();
  return extension == ".nsys-rep" || extension == ".ncu-rep" || extension == ".qdstrm" || extension == ".qdrep";
}

// Its data are packed, so that names in them cannot be redacted: the page is made anew of the redacted run.
constexpr const char* kReportPage = "report.html";

bool is_sqlite(const fs::path& file) { return file.extension() == ".sqlite"; }

class Staging {
 public:
  Staging(const ExportSource& source, const Redactions& redacted, const fs::path& scratch)
      : source_(source), redacted_(redacted), scratch_(scratch / folder_of(source.run.run_id)),
        texts_(redacted, source.run, source.bundle, redacted.host ? host_names(source.bundle) : std::vector<std::string>()) {
    staged_.about = {folder_of(source.run.run_id), source.run.run_id, {}, source.kind};
  }

  StagedBundle stage() {
    put_run_json();
    if (source_.kind == BundleSource::kBundle) put_bundle();
    std::sort(staged_.files.begin(), staged_.files.end(),
              [](const StagedFile& a, const StagedFile& b) { return a.listed.path < b.listed.path; });
    put_manifest();
    for (StagedFile& file : staged_.files) file.listed.path = staged_.about.folder + "/" + file.listed.path;
    return std::move(staged_);
  }

 private:
  // Still a run.json afterwards: a host may be called as one of its words.
  void put_run_json() {
    const std::string text = texts_.apply(source_.run_json);
    run_ = read_run(text, source_.bundle / "run.json");
    if (run_.run_id != source_.run.run_id)
      throw Error(ErrorKind::kInput, "the host's name is a part of the run's id, which must stay", source_.run.run_id,
                  "export it without --redact host");
    staged_.about.name = run_.name;
    put_copy("run.json", text);
  }

  void put_bundle() {
    for (const ManifestFile& file : files_of_whole_bundle(source_.bundle))
      if (file.path != "run.json") put_file(file);
    auto& left_out = staged_.about.left_out;
    std::sort(left_out.begin(), left_out.end(), [](const LeftOutFile& a, const LeftOutFile& b) { return a.path < b.path; });
  }

  void put_file(const ManifestFile& listed) {
    const fs::path file = source_.bundle / listed.path;
    if (leads_elsewhere(listed.path)) return leave_out(listed.path, LeftOutReason::kLink);
    if (redacted_.environment && holds_environment(file)) return leave_out(listed.path, LeftOutReason::kEnvironment);
    const bool configuration = redacted_.environment && listed.path == "config.yaml";
    const bool database = redacted_.environment && is_sqlite(file);
    if (!texts_.asked() && !configuration && !database) return staged_.files.push_back({listed, file});
    if (is_sqlite(file)) return put_sqlite(listed.path, file);
    if (texts_.asked() && listed.path == kReportPage) return put_copy(listed.path, exporters::report_html(run_));
    std::string text = read_run_text(file);
    if (!is_text(text)) return leave_out(listed.path, LeftOutReason::kBinary);
    if (configuration) text = without_environment(text, file.string());
    put_copy(listed.path, texts_.apply(text));
  }

  // A link, or below one: what it leads to may be anything of this machine.
  bool leads_elsewhere(const std::string& path) const {
    fs::path file = source_.bundle;
    for (const fs::path& name : fs::path(path))
      if (fs::is_symlink(file /= name)) return true;
    return false;
  }

  void put_sqlite(const std::string& path, const fs::path& file) {
    const fs::path copy = place_for(path);
    std::error_code failure;
    fs::copy_file(file, copy, failure);
    if (failure)
      throw Error(ErrorKind::kOutput, fmt::format("cannot copy {}: {}", path, failure.message()), copy.string(),
                  "free some space beside the archive");
    if (redacted_.environment) redact_environment(copy);
    if (texts_.asked()) redact_texts(copy, [this](std::string_view text) { return texts_.apply(text); });
    put_made(path, copy);
  }

  // Of what is in the archive, so that the bundle is whole wherever it is unpacked.
  void put_manifest() {
    std::vector<ManifestFile> files;
    for (const StagedFile& file : staged_.files) files.push_back(file.listed);
    put_copy(kManifestFile, manifest_text(run_, files));
  }

  void put_made(const std::string& path, const fs::path& file) {
    staged_.files.push_back({{path, fs::file_size(file), sha256_file(file)}, file});
  }

  void put_copy(const std::string& path, const std::string& text) {
    const fs::path copy = place_for(path);
    write_file_whole(copy, text);
    put_made(path, copy);
  }

  fs::path place_for(const std::string& path) const {
    const fs::path copy = scratch_ / path;
    std::error_code failure;
    fs::create_directories(copy.parent_path(), failure);
    if (failure)
      throw Error(ErrorKind::kOutput, fmt::format("cannot make the folder: {}", failure.message()), copy.parent_path().string(),
                  "free some space beside the archive");
    return copy;
  }

  void leave_out(const std::string& path, LeftOutReason reason) { staged_.about.left_out.push_back({path, reason}); }

  const ExportSource& source_;
  const Redactions& redacted_;
  fs::path scratch_;
  TextRedaction texts_;
  Run run_;  // as it is exported
  StagedBundle staged_;
};

}  // namespace

StagedBundle stage_bundle(const ExportSource& source, const Redactions& redacted, const fs::path& scratch) {
  return Staging(source, redacted, scratch).stage();
}

}  // namespace nl::runs
