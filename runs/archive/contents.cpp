#include "runs/archive/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "exporters/run_json/reader.h"
#include "exporters/run_json/writer.h"
#include "model/error_code.h"
#include "model/input_bounds.h"
#include "runs/archive/redaction.h"

namespace nl::runs {
namespace {

constexpr const char* kFormat = "nl-stage archive";
constexpr int kVersion = 1;
constexpr InputBounds kContentsBounds{16, 5'000'000};  // a file has four values; 100,000 files unless --max-files raises it
constexpr std::size_t kLongestName = 255, kLongestPath = 4000, kDigestLetters = 64;

[[noreturn]] void refuse_contents(const std::string& what, const std::string& path, const std::string& where) {
  throw CodedError(ErrorCode::kArchiveDamaged, what, fmt::format("{}: {}", where, path),
                   "do not use this archive; have it made again by nl-stage export");
}

void refuse_unsafe(const std::string& path, const std::string& where) {
  if (const std::string reason = unsafe_path_reason(path); !reason.empty())
    refuse_contents("the archive has a file that " + reason, path, where);
}

void check_digest(const ManifestFile& file, const std::string& where) {
  const bool digest = file.sha256.size() == kDigestLetters && file.sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!digest) refuse_contents("the archive's list has no sha256 of a file", file.path, where);
}

void check_no_file_is_a_folder(const std::set<std::string>& files, const std::string& where) {
  for (const std::string& path : files)
    for (std::size_t cut = path.rfind('/'); cut != std::string::npos && cut > 0; cut = path.rfind('/', cut - 1))
      if (files.contains(path.substr(0, cut))) refuse_contents("the archive has a file that is also a folder", path.substr(0, cut), where);
}

Redactions redactions_of(const std::vector<std::string>& keys) {
  const auto asked = [&](const char* key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); };
  return {asked("environment"), asked("host"), asked("paths")};
}

// What says whether the rest can be read.
struct ArchiveHead {
  std::string format = kFormat;
  int version = kVersion;
};

void fields(auto& io, exporters::Ref<decltype(io), ArchiveHead> head) {
  io("format", head.format);
  io("version", head.version);
}

// A line of the list of files.
struct ListedFile : ManifestFile {};

void fields(auto& io, exporters::Ref<decltype(io), ListedFile> file) {
  io("path", file.path);
  io("size_bytes", file.size_bytes);
  io("sha256", file.sha256);
}

void check_head(const ArchiveHead& head, const std::string& where) {
  if (head.format != kFormat)
    throw CodedError(ErrorCode::kArchiveDamaged, "this is no archive of nl-stage", where, "give a file that nl-stage export made");
  if (head.version != kVersion)
    throw Error(ErrorKind::kInput, fmt::format("the archive has version {}; this nl-stage reads version {}", head.version, kVersion), where,
                "update nl-stage");
}

}  // namespace

void fields(auto& io, exporters::Ref<decltype(io), LeftOutFile> file) {
  io("path", file.path);
  io.code("reason", file.reason);
}

void fields(auto& io, exporters::Ref<decltype(io), ArchivedBundle> bundle) {
  io("folder", bundle.folder);
  io("run_id", bundle.run_id);
  io("name", bundle.name);
  io.code("source", bundle.source);
  io("left_out", bundle.left_out);
}

template <class Io>
void fields(Io& io, exporters::Ref<Io, ArchiveContents> contents) {
  ArchiveHead head;
  fields(io, head);
  io("created_at", contents.created_at);
  io("nl_stage", contents.nl_stage_version);
  std::vector<std::string> redacted;
  std::vector<ListedFile> files;
  if constexpr (std::is_same_v<Io, exporters::JsonWriter>) {
    redacted = keys_of(contents.redacted);
    for (const ManifestFile& file : contents.files) files.push_back({file});
  }
  io("redacted", redacted);
  io("bundles", contents.bundles);
  io("files", files);
  if constexpr (std::is_same_v<Io, exporters::JsonReader>) {
    contents.redacted = redactions_of(redacted);
    contents.files.assign(files.begin(), files.end());
  }
}

std::vector<std::string> keys_of(const Redactions& redacted) {
  std::vector<std::string> keys;
  for (const auto& [asked, key] : {std::pair{redacted.environment, "environment"}, {redacted.host, "host"}, {redacted.paths, "paths"}})
    if (asked) keys.emplace_back(key);
  return keys;
}

void check_contents(const ArchiveContents& contents, const std::string& where) {
  if (contents.bundles.empty()) refuse_contents("the archive has no runs", kContentsFile, where);
  std::set<std::string> folders, files;
  for (const ArchivedBundle& bundle : contents.bundles) {
    refuse_unsafe(bundle.folder, where);
    if (bundle.folder.find('/') != std::string::npos)
      refuse_contents("the archive has a bundle inside another folder", bundle.folder, where);
    if (!folders.insert(bundle.folder).second) refuse_contents("the archive has a bundle twice", bundle.folder, where);
  }
  for (const ManifestFile& file : contents.files) {
    refuse_unsafe(file.path, where);
    if (!files.insert(file.path).second) refuse_contents("the archive has a file twice", file.path, where);
    const std::size_t cut = file.path.find('/');
    if (cut == std::string::npos || !folders.contains(file.path.substr(0, cut)))
      refuse_contents("the archive has a file outside its bundles", file.path, where);
  }
  check_no_file_is_a_folder(files, where);
}

std::string contents_text(const ArchiveContents& contents) { return exporters::json_text(contents); }

ArchiveContents read_contents(const std::string& text, const std::string& where) {
  exporters::JsonDocument about{.what = "the archive's list is damaged",
                                .where = fmt::format("{}: {}", where, kContentsFile),
                                .fix = "copy the archive again from where it was made, or update nl-stage",
                                .older = true,
                                .nulls = false};
  json_within_bounds(text, about.where, kContentsBounds);
  check_head(exporters::read_json<ArchiveHead>(text, about), where);
  about.older = false;
  ArchiveContents contents = exporters::read_json<ArchiveContents>(text, about);
  for (const ManifestFile& file : contents.files) check_digest(file, where);
  check_contents(contents, where);
  return contents;
}

std::string unsafe_path_reason(std::string_view path) {
  if (path.empty()) return "has no name";
  if (path.front() == '/') return "has an absolute path";
  if (path.size() > kLongestPath) return "has too long a path";
  if (!is_text(path)) return "has a name that is not UTF-8";
  if (std::any_of(path.begin(), path.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    return "has control characters in its path";
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t end = std::min(path.find('/', start), path.size());
    const std::string_view name = path.substr(start, end - start);
    if (name == "..") return "leads out of the archive's folder";
    if (name.empty() || name == ".") return "has an empty name in its path";
    if (name.size() > kLongestName) return "has too long a name";
    start = end + 1;
  }
  return {};
}

}  // namespace nl::runs
