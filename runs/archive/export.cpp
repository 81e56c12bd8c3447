#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "exporters/report/reports.h"
#include "model/error_code.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/files.h"
#include "orchestrator/bundle/provenance.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/bundle/redact.h"
#include "orchestrator/bundle/sha256.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"
#include "runs/archive/archive.h"
#include "runs/archive/redaction.h"
#include "runs/archive/scratch_folder.h"
#include "runs/archive/tar.h"
#include "runs/ledger/bundles.h"
#include "runs/ledger/find_run.h"

namespace fs = std::filesystem;

namespace nl::runs {
namespace {

// A run that is to be exported, and the best that is here of it.
struct ExportSource {
  BundleSource kind = BundleSource::kBundle;
  std::filesystem::path bundle;  // where it is, or (kLedger) was
  std::string run_json;
  Run run;
};

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
  if (state != BundleState::kOther && state != BundleState::kGone) return source_of_path(entry.bundle);
  ExportSource source{BundleSource::kLedger, entry.bundle, ledger.run_json(entry.run_id), {}};
  source.run = read_run(source.run_json, fmt::format("{} of {}", entry.run_id, ledger.location()));
  return source;
}

ExportSource source_named(const std::string& name, const std::string& ledger_location) {
  const FoundRun found = find_run(name, ledger_location.empty() ? "off" : ledger_location);
  if (found.place != RunPlace::kLedger) return source_of_path(found.path);
  Ledger ledger = Ledger::open(found.ledger, database::Absent::kRefuse);
  return source_of_entry(ledger, *found.entry);
}

// By folder, run.json or ledger name; each run once. Error(kInput) where there is none of a name, or two runs have one id.
std::vector<ExportSource> find_sources(const std::vector<std::string>& names, const std::string& ledger_location) {
  std::vector<ExportSource> sources;
  std::map<std::string, fs::path> bundles;  // by run id
  for (const std::string& name : names) {
    ExportSource source = source_named(name, ledger_location);
    const auto [same, fresh] = bundles.emplace(source.run.run_id, source.bundle);
    if (!fresh && same->second != source.bundle)
      throw Error(ErrorKind::kInput, fmt::format("two bundles are of the run {}", source.run.run_id),
                  fmt::format("{} and {}", same->second.string(), source.bundle.string()), "name one of them");
    if (fresh) sources.push_back(std::move(source));
  }
  return sources;
}

struct StagedFile {
  ManifestFile listed;         // its path in the archive
  std::filesystem::path file;  // the bundle's own, or a redacted copy
};

struct StagedBundle {
  ArchivedBundle about;
  std::vector<StagedFile> files;  // by path, the manifest last
};

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
    staged_.about.source = source.kind;
    if (source.kind == BundleSource::kBundle) know_files();
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
    try {
      run_ = read_run(text, source_.bundle / "run.json");
    } catch (const Error&) {
      if (!redacted_.host) throw;
      throw Error(ErrorKind::kInput, "the host has the name of a field of run.json, which must stay", source_.run.run_id,
                  "export it without --redact host");
    }
    staged_.about.run_id = run_.run_id;  // the host may be a part of it
    staged_.about.folder = folder_of(run_.run_id);
    staged_.about.name = run_.name;
    put_copy("run.json", text);
  }

  // The roots of all files that the bundle names, before the first text is redacted.
  void know_files() {
    if (!redacted_.paths) return;
    for (const auto& entry : fs::recursive_directory_iterator(source_.bundle))
      if (!entry.is_symlink() && entry.is_regular_file() && !is_sqlite(entry.path()) && !holds_environment(entry.path()))
        if (const std::string text = read_run_text(entry.path()); is_text(text)) texts_.know_roots_of(text);
  }

  void put_bundle() {
    // What is left out anyway need not be there.
    const auto may_lack = [this](const fs::path& file) { return redacted_.environment && holds_environment(file); };
    for (const ManifestFile& file : files_of_whole_bundle(source_.bundle, may_lack))
      if (file.path != "run.json") put_file(file);
    auto& left_out = staged_.about.left_out;
    std::sort(left_out.begin(), left_out.end(), [](const LeftOutFile& a, const LeftOutFile& b) { return a.path < b.path; });
  }

  void put_file(const ManifestFile& listed) {
    const fs::path file = source_.bundle / listed.path;
    const std::string path = name_of(listed.path);
    if (leads_elsewhere(listed.path)) return leave_out(path, LeftOutReason::kLink);
    if (redacted_.environment && holds_environment(file)) return leave_out(path, LeftOutReason::kEnvironment);
    const bool configuration = redacted_.environment && listed.path == "config.yaml";
    const bool database = redacted_.environment && is_sqlite(file);
    if (!texts_.asked() && !configuration && !database) return staged_.files.push_back({listed, file});
    if (is_sqlite(file)) return put_sqlite(path, file);
    if (texts_.asked() && listed.path == kReportPage) return put_copy(path, exporters::report_html(run_, page_parts()));
    std::string text = read_run_text(file);
    if (!is_text(text) && texts_.names_asked()) return leave_out(path, LeftOutReason::kBinary);
    if (!is_text(text) && texts_.holds_variable(text)) return leave_out(path, LeftOutReason::kEnvironment);
    if (!is_text(text)) return staged_.files.push_back({listed, file});
    if (configuration) text = without_environment(text, file.string());
    put_copy(path, texts_.apply(text));
  }

  // TensorBoard's files are named after the host. Two names that become one are numbered.
  std::string name_of(const std::string& path) {
    const std::string plain = texts_.without_hosts(path);
    std::string name = plain;
    for (int number = 2; !names_.insert(name).second; ++number) name = fmt::format("{}-{}", plain, number);
    return name;
  }

  // What is packed in the page cannot be redacted, but it holds no command.
  exporters::PageParts page_parts() const {
    if (texts_.names_asked()) return {};
    std::error_code ignored;
    return {read_detail_file(source_.bundle), fs::exists(source_.bundle / kTraceFile, ignored) ? kTraceFile : ""};
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
  std::set<std::string> names_{"run.json", kManifestFile};
};

// What goes into the archive of a run. The bundle itself is only read; redacted copies are made in `scratch`.
StagedBundle stage_bundle(const ExportSource& source, const Redactions& redacted, const fs::path& scratch) {
  return Staging(source, redacted, scratch).stage();
}

constexpr std::string_view kArchiveEndings[] = {".nlz", ".tar.zst"};
constexpr std::size_t kPieceBytes = 1 << 20;

void check_output(const fs::path& out) {
  const std::string name = out.filename();
  const bool known = std::any_of(std::begin(kArchiveEndings), std::end(kArchiveEndings),
                                 [&](std::string_view ending) { return name.size() > ending.size() && name.ends_with(ending); });
  if (!known) throw Error(ErrorKind::kUsage, "an archive is called NAME.nlz or NAME.tar.zst", out.string(), "give such a name with -o");
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(out, ignored)))
    throw CodedError(ErrorCode::kOutputExists, "the file exists", out.string(),
                     "give -o another name, or remove it; nl-stage never overwrites an archive");
}

void check_interrupted(const fs::path& file) {
  if (Interrupts::signal() != 0) throw Error(ErrorKind::kInterrupted, "interrupted; nothing was left behind", file.string());
}

// Hashed once more on the way: a file that changes now would make an archive that cannot be unpacked.
void write_file(TarWriter& tar, const StagedFile& staged) {
  tar.begin_file(staged.listed.path, staged.listed.size_bytes);
  std::ifstream stream(staged.file, std::ios::binary);
  Sha256 digest(*libcrypto());
  std::vector<char> piece(kPieceBytes);
  std::uintmax_t left = staged.listed.size_bytes;
  while (left > 0 && stream.read(piece.data(), static_cast<std::streamsize>(std::min<std::uintmax_t>(left, piece.size()))).gcount() > 0) {
    const std::string_view got(piece.data(), static_cast<std::size_t>(stream.gcount()));
    digest.add(got);
    tar.append(got);
    left -= got.size();
    check_interrupted(staged.file);
  }
  if (left > 0 || digest.hex(staged.file.string()) != staged.listed.sha256)
    throw Error(ErrorKind::kInput, "the file changed while it was read", staged.file.string(),
                "export the run when nothing writes to its bundle");
}

void write_archive(const ExportResult& result, const std::vector<StagedBundle>& bundles) {
  TarWriter tar(result.file);
  const std::string list = contents_text(result.contents);
  tar.begin_file(kContentsFile, list.size());
  tar.append(list);
  for (const StagedBundle& bundle : bundles)
    for (const StagedFile& file : bundle.files) write_file(tar, file);
  tar.commit();
}

}  // namespace

std::vector<ManifestFile> files_of_whole_bundle(const fs::path& bundle, const std::function<bool(const fs::path&)>& may_lack) {
  std::vector<ManifestFile> here = files_with_digests(bundle);
  for (const ManifestFile& listed : read_manifest(bundle)) {
    const auto found = std::find_if(here.begin(), here.end(), [&](const ManifestFile& file) { return file.path == listed.path; });
    if (found == here.end() && may_lack && may_lack(listed.path)) continue;
    if (found == here.end())
      throw CodedError(ErrorCode::kBundleDamaged, "half a bundle: a file of its manifest is missing", (bundle / listed.path).string(),
                       "use a whole copy of the bundle; its report.html can be sent by itself");
    if (found->size_bytes != listed.size_bytes || (!listed.sha256.empty() && found->sha256 != listed.sha256))
      throw CodedError(ErrorCode::kBundleDamaged, "a file of the bundle was changed after its manifest was written",
                       (bundle / listed.path).string(),
                       "use an unchanged copy; `nl-stage report` makes reports, and their lines of the manifest, anew");
  }
  return here;
}

ExportResult export_runs(const ExportRequest& request) {
  const Activity packing("packing " + request.out.filename().string());
  const Interrupts interrupts;
  check_output(request.out);
  if (libcrypto() == nullptr)
    throw Error(ErrorKind::kTool, "there is no libcrypto here: an archive needs digests", "libcrypto.so.3", "install libssl3");
  ExportResult result;
  result.file = fs::absolute(request.out).lexically_normal();
  result.contents = {
      utc_text(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now())), version(), request.redacted, {}, {}};
  const std::vector<ExportSource> sources = find_sources(request.runs, request.ledger_location);
  const ScratchFolder scratch(result.file.parent_path(), "export");
  std::vector<StagedBundle> bundles;
  for (const ExportSource& source : sources) {
    check_interrupted(result.file);
    bundles.push_back(stage_bundle(source, request.redacted, scratch.path()));
    result.contents.bundles.push_back(bundles.back().about);
    for (const StagedFile& file : bundles.back().files) result.contents.files.push_back(file.listed);
  }
  for (const ManifestFile& file : result.contents.files) result.unpacked_bytes += file.size_bytes;
  check_contents(result.contents, result.file.string());  // what import-bundle would refuse is not written
  write_archive(result, bundles);
  result.size_bytes = fs::file_size(result.file);
  return result;
}

}  // namespace nl::runs
