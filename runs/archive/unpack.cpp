#include "runs/archive/unpack.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/sha256.h"
#include "orchestrator/process/interrupts.h"
#include "runs/archive/tar.h"

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
    throw Error(ErrorKind::kInput, what, fmt::format("{}: {}", archive_.string(), path), fix);
  }

  // The first file, so that everything after it can be judged before it is written.
  std::string list() {
    const auto entry = tar_.next();
    if (!entry || entry->path != kContentsFile || entry->kind != TarEntryKind::kFile)
      throw Error(ErrorKind::kInput, "this is no archive of nl-stage: it does not begin with archive.json", archive_.string(),
                  "give a file that nl-stage export made");
    if (entry->size_bytes > kLongestList) refuse("the archive's list is too long", kContentsFile, kDoNotUse);
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
    const double packed = static_cast<double>(fs::file_size(archive_));
    if (static_cast<double>(total) > limits_.ratio * packed)
      refuse(fmt::format("the archive is packed {:.0f} to 1, more than {:g} to 1: it may be made to fill the disk",
                         static_cast<double>(total) / packed, limits_.ratio),
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

}  // namespace

ArchiveContents unpack_archive(const fs::path& archive, const ArchiveLimits& limits, const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_regular_file(archive, ignored))
    throw Error(ErrorKind::kInput, "there is no such file", archive.string(), "give an archive that nl-stage export made");
  if (libcrypto() == nullptr)
    throw Error(ErrorKind::kTool, "there is no libcrypto here: the archive cannot be verified", "libcrypto.so.3", "install libssl3");
  return Unpacking(archive, limits, folder).unpack();
}

}  // namespace nl::runs
