#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/error_code.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/bundle/sha256.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"
#include "runs/archive/archive.h"
#include "runs/archive/scratch_folder.h"
#include "runs/archive/tar.h"
#include "runs/ledger/bundles.h"
#include "runs/ledger/ledger.h"

namespace fs = std::filesystem;

namespace nl::runs {
namespace {

constexpr std::size_t kUnpackPiece = 1 << 20;
constexpr std::uint64_t kLongestList = 64 << 20;

std::string_view words_of_kind(TarEntryKind kind) {
  switch (kind) {
    case TarEntryKind::kFile: return "a file";
    case TarEntryKind::kSymbolicLink: return "a symbolic link";
    case TarEntryKind::kHardLink: return "a hard link";
    case TarEntryKind::kFolder: return "a folder";
    case TarEntryKind::kDevice: return "a device, pipe or socket";
  }
  return "";
}

class Unpacking {
 public:
  Unpacking(const fs::path& archive, const ArchiveLimits& limits, const fs::path& folder)
      : archive_(archive), limits_(limits), folder_(folder), tar_(archive), piece_(kUnpackPiece) {}

  ArchiveContents unpack() {
    ArchiveContents contents = read_contents(list(), archive_.string());
    check_limits(contents);
    for (const ManifestFile& file : contents.files) waiting_.emplace(file.path, &file);
    while (const auto entry = tar_.next()) put(*entry);
    if (!waiting_.empty()) refuse("the archive is cut short: a file of its list is missing", waiting_.begin()->first, kCopyAgain);
    return contents;
  }

 private:
  static constexpr const char* kCopyAgain = "copy the archive again from where it was made";
  static constexpr const char* kDoNotUse = "do not use this archive; have it made again by nl-stage export";

  [[noreturn]] void refuse(const std::string& what, const std::string& path, const char* fix) const {
    throw CodedError(ErrorCode::kArchiveDamaged, what, fmt::format("{}: {}", archive_.string(), path), fix);
  }

  // The first file, so that everything after it can be judged before it is written.
  std::string list() {
    const auto entry = tar_.next();
    if (!entry || entry->path != kContentsFile || entry->kind != TarEntryKind::kFile)
      throw CodedError(ErrorCode::kArchiveDamaged, "this is no archive of nl-stage: it does not begin with archive.json", archive_.string(),
                       "give a file that nl-stage export made");
    if (entry->size_bytes > kLongestList) refuse("the archive's list is too long", kContentsFile, kDoNotUse);
    check_ratio(entry->size_bytes);
    std::string text;
    while (const std::size_t got = tar_.read(piece_.data(), piece_.size())) text.append(piece_.data(), got);
    return text;
  }

  // By what the list says; put() holds every file to it.
  void check_limits(const ArchiveContents& contents) const {
    if (contents.files.size() > limits_.files)
      refuse(fmt::format("the archive has {} files, more than {}", contents.files.size(), limits_.files), kContentsFile,
             "if you trust it, raise --max-files");
    std::uint64_t total = 0;
    for (const ManifestFile& file : contents.files) {
      if (file.size_bytes > limits_.total_bytes - total)
        refuse(fmt::format("unpacked, the archive has more than {} bytes", limits_.total_bytes), file.path,
               "if you trust it, raise --max-size");
      total += file.size_bytes;
    }
    check_ratio(total);
  }

  void check_ratio(std::uint64_t unpacked) const {
    const double packed = static_cast<double>(fs::file_size(archive_));
    if (static_cast<double>(unpacked) > limits_.ratio * packed)
      refuse(fmt::format("the archive is packed {:.0f} to 1, more than {:g} to 1: it may be made to fill the disk",
                         static_cast<double>(unpacked) / packed, limits_.ratio),
             kContentsFile, "if you trust it, raise --max-ratio");
  }

  void put(const TarEntry& entry) {
    if (const std::string reason = unsafe_path_reason(entry.path); !reason.empty())
      refuse("the archive has a file that " + reason, entry.path, kDoNotUse);
    if (entry.kind != TarEntryKind::kFile)
      refuse(fmt::format("the archive has {} in it", words_of_kind(entry.kind)), entry.path, kDoNotUse);
    const auto listed = waiting_.find(entry.path);
    if (listed == waiting_.end()) refuse("the archive has a file twice, or one that is not in its list", entry.path, kDoNotUse);
    if (entry.size_bytes != listed->second->size_bytes) refuse_changed(entry.path);
    write(*listed->second);
    waiting_.erase(listed);
  }

  void write(const ManifestFile& listed) {
    const fs::path path = folder_ / listed.path;
    make_folder(path.parent_path());
    WholeFile file(path);
    Sha256 digest(*libcrypto());
    std::uint64_t left = listed.size_bytes;
    while (const std::size_t got = tar_.read(piece_.data(), piece_.size())) {
      if (got > left) refuse_changed(listed.path);
      left -= got;
      digest.add({piece_.data(), got});
      file.append({piece_.data(), got});
      if (Interrupts::signal() != 0) throw Error(ErrorKind::kInterrupted, "interrupted; nothing was left behind", archive_.string());
    }
    if (left > 0 || digest.hex(listed.path) != listed.sha256) refuse_changed(listed.path);
    file.commit();
  }

  [[noreturn]] void refuse_changed(const std::string& path) const {
    refuse("a file of the archive was changed, or is damaged: it is not what the list says", path, kCopyAgain);
  }

  void make_folder(const fs::path& folder) const {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure)
      throw Error(ErrorKind::kOutput, fmt::format("cannot make the folder: {}", failure.message()), folder.string(),
                  "choose another folder with --out");
  }

  const fs::path& archive_;
  const ArchiveLimits& limits_;
  const fs::path& folder_;
  TarReader tar_;
  std::vector<char> piece_;
  std::map<std::string, const ManifestFile*> waiting_;  // listed, not unpacked yet
};

// Unpacks an archive into a folder that is there and empty. What was written is what archive.json lists, byte for byte; else
// Error(kInput) names the file, and what is in the folder by then is rubbish.
ArchiveContents unpack_archive(const fs::path& archive, const ArchiveLimits& limits, const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_regular_file(archive, ignored))
    throw CodedError(ErrorCode::kNoSuchFile, "there is no such file", archive.string(), "give an archive that nl-stage export made");
  if (libcrypto() == nullptr)
    throw Error(ErrorKind::kTool, "there is no libcrypto here: the archive cannot be verified", "libcrypto.so.3", "install libssl3");
  return Unpacking(archive, limits, folder).unpack();
}

// An unpacked bundle on its way to its place.
struct Arrival {
  const ArchivedBundle* about;
  fs::path unpacked, folder;
  std::string run_json;
  Run run;
  bool was_there = false;  // the folder
  bool in_ledger = false;  // the same run
  bool record = false;     // also where the ledger's bundle is gone
  bool moved = false, recorded = false;
};

bool is_same_bundle(const fs::path& a, const fs::path& b) {
  const auto first = files_with_digests(a), second = files_with_digests(b);
  return std::equal(first.begin(), first.end(), second.begin(), second.end(),
                    [](const ManifestFile& x, const ManifestFile& y) { return x.path == y.path && x.sha256 == y.sha256; });
}

class Importing {
 public:
  explicit Importing(const ImportBundleRequest& request) : request_(request), scratch_(request.out, "import") {}

  ImportBundleResult import() {
    ImportBundleResult result;
    result.contents = unpack_archive(request_.archive, request_.limits, scratch_.path());
    for (const ArchivedBundle& bundle : result.contents.bundles) arrivals_.push_back(arrival_of(bundle));
    for (Arrival& arrival : arrivals_) check_folder(arrival);
    if (!request_.ledger_location.empty()) check_ledger();
    try {
      for (Arrival& arrival : arrivals_) move_in(arrival);
      for (Arrival& arrival : arrivals_) record(arrival);
    } catch (...) {
      take_back();
      throw;
    }
    for (const Arrival& arrival : arrivals_)
      result.bundles.push_back({*arrival.about, arrival.folder, arrival.was_there, arrival.recorded});
    if (ledger_) result.ledger = ledger_->location();
    return result;
  }

 private:
  // A whole bundle, of the run that the list says.
  Arrival arrival_of(const ArchivedBundle& about) const {
    Arrival arrival{&about, scratch_.path() / about.folder, fs::absolute(request_.out).lexically_normal() / about.folder, {}, {}};
    try {
      const fs::path file = run_json_of(arrival.unpacked);
      arrival.run_json = read_run_text(file);
      arrival.run = read_run(arrival.run_json, file);
      files_of_whole_bundle(arrival.unpacked);
    } catch (Error& error) {  // the folder it was unpacked to will be gone
      const std::string prefix = scratch_.path().string() + "/";
      if (error.where.starts_with(prefix))
        error.where = fmt::format("{}: {}", request_.archive.string(), error.where.substr(prefix.size()));
      throw;
    }
    if (arrival.run.run_id != about.run_id)
      throw Error(ErrorKind::kInput, fmt::format("the archive says that this is the run {}; it is {}", about.run_id, arrival.run.run_id),
                  fmt::format("{}: {}", request_.archive.string(), about.folder),
                  "do not use this archive; have it made again by nl-stage export");
    return arrival;
  }

  void check_folder(Arrival& arrival) const {
    std::error_code ignored;
    arrival.was_there = fs::exists(fs::symlink_status(arrival.folder, ignored));
    if (arrival.was_there && (!fs::is_directory(arrival.folder, ignored) || !is_same_bundle(arrival.folder, arrival.unpacked)))
      throw Error(ErrorKind::kInput, "another bundle of this name is there already", arrival.folder.string(),
                  "give another folder with --out");
  }

  // Last, since a ledger that is not there yet is made.
  void check_ledger() {
    ledger_.emplace(Ledger::open(request_.ledger_location));
    for (Arrival& arrival : arrivals_) check_record(arrival);
  }

  void check_record(Arrival& arrival) {
    arrival.record = true;
    std::optional<LedgerEntry> known = find(arrival.run.run_id);
    if (!known) return;
    if (ledger_->run_json(known->run_id) != arrival.run_json)
      throw Error(ErrorKind::kInput, fmt::format("the ledger has another version of the run {}", known->run_id), ledger_->location(),
                  "a redacted run differs from the original; name another ledger with --ledger, or remove the recorded run first");
    arrival.in_ledger = true;
    const BundleState state = bundle_state(*known);
    arrival.record = state != BundleState::kWhole && state != BundleState::kPart;
  }

  // By its id: a run's name or tag must not be taken for one.
  std::optional<LedgerEntry> find(const std::string& run_id) {
    try {
      LedgerEntry entry = ledger_->resolve(run_id);
      return entry.run_id == run_id ? std::optional(std::move(entry)) : std::nullopt;
    } catch (const Error& error) {
      if (error.kind == ErrorKind::kInput || error.kind == ErrorKind::kUsage) return std::nullopt;
      throw;
    }
  }

  void move_in(Arrival& arrival) const {
    if (Interrupts::signal() != 0) throw Error(ErrorKind::kInterrupted, "interrupted; nothing was left behind", request_.archive.string());
    if (arrival.was_there) return;
    std::error_code failure;
    make_private(arrival.unpacked);
    fs::rename(arrival.unpacked, arrival.folder, failure);
    if (failure)
      throw Error(ErrorKind::kOutput, fmt::format("cannot put the bundle in place: {}", failure.message()), arrival.folder.string(),
                  "give another folder with --out");
    arrival.moved = true;
  }

  void record(Arrival& arrival) {
    if (!arrival.record) return;
    ledger_->record(arrival.run, arrival.run_json, arrival.folder);
    arrival.recorded = true;
  }

  // Best effort: the first error is the one to tell.
  void take_back() noexcept {
    for (const Arrival& arrival : arrivals_) {
      std::error_code ignored;
      if (arrival.moved) fs::remove_all(arrival.folder, ignored);
      try {
        if (arrival.recorded && !arrival.in_ledger) ledger_->remove(arrival.run.run_id);
      } catch (...) {
      }
    }
  }

  const ImportBundleRequest& request_;
  ScratchFolder scratch_;
  std::optional<Ledger> ledger_;
  std::vector<Arrival> arrivals_;
};

}  // namespace

ImportBundleResult import_bundle(const ImportBundleRequest& request) {
  const Activity unpacking("unpacking " + request.archive.filename().string());
  const Interrupts interrupts;
  return Importing(request).import();
}

}  // namespace nl::runs
