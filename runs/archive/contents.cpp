#include "runs/archive/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "model/error.h"
#include "runs/archive/redaction.h"

namespace nl::runs {
namespace {

using nlohmann::json, nlohmann::ordered_json;

constexpr const char* kFormat = "nl-stage archive";
constexpr int kVersion = 1;
constexpr std::size_t kLongestName = 255, kLongestPath = 4000, kDigestLetters = 64;

constexpr std::pair<BundleSource, std::string_view> kSources[] = {
    {BundleSource::kBundle, "bundle"}, {BundleSource::kRunJson, "run.json"}, {BundleSource::kLedger, "ledger"}};
constexpr std::pair<LeftOutReason, std::string_view> kReasons[] = {
    {LeftOutReason::kEnvironment, "environment"}, {LeftOutReason::kBinary, "binary"}, {LeftOutReason::kLink, "link"}};

template <typename Code, std::size_t kCount>
std::string_view key_in(const std::pair<Code, std::string_view> (&table)[kCount], Code code) {
  return std::find_if(std::begin(table), std::end(table), [&](const auto& row) { return row.first == code; })->second;
}

template <typename Code, std::size_t kCount>
Code code_in(const std::pair<Code, std::string_view> (&table)[kCount], const std::string& key, const std::string& where) {
  for (const auto& [code, known] : table)
    if (known == key) return code;
  throw Error(ErrorKind::kInput, fmt::format("the archive's list has the unknown word '{}'", key), where,
              "update nl-stage, or have the archive made again");
}

[[noreturn]] void refuse_contents(const std::string& what, const std::string& path, const std::string& where) {
  throw Error(ErrorKind::kInput, what, fmt::format("{}: {}", where, path),
              "do not use this archive; have it made again by nl-stage export");
}

void refuse_unsafe(const std::string& path, const std::string& where) {
  if (const std::string reason = unsafe_path_reason(path); !reason.empty())
    refuse_contents("the archive has a file that " + reason, path, where);
}

ArchivedBundle bundle_from(const json& object, const std::string& where) {
  ArchivedBundle bundle{object.at("folder"), object.at("run_id"), object.at("name"), code_in(kSources, object.at("source"), where)};
  for (const json& file : object.at("left_out")) bundle.left_out.push_back({file.at("path"), code_in(kReasons, file.at("reason"), where)});
  return bundle;
}

ManifestFile file_from(const json& object, const std::string& where) {
  ManifestFile file{object.at("path"), 0, object.at("sha256")};
  if (!object.at("size_bytes").is_number_unsigned()) refuse_contents("the archive's list has no size of a file", file.path, where);
  file.size_bytes = object.at("size_bytes");
  const bool digest = file.sha256.size() == kDigestLetters && file.sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!digest) refuse_contents("the archive's list has no sha256 of a file", file.path, where);
  return file;
}

void check_no_file_is_a_folder(const std::set<std::string>& files, const std::string& where) {
  for (const std::string& path : files)
    for (std::size_t cut = path.rfind('/'); cut != std::string::npos && cut > 0; cut = path.rfind('/', cut - 1))
      if (files.contains(path.substr(0, cut))) refuse_contents("the archive has a file that is also a folder", path.substr(0, cut), where);
}

ArchiveContents contents_from(const json& object, const std::string& where) {
  if (object.at("format") != kFormat)
    throw Error(ErrorKind::kInput, "this is no archive of nl-stage", where, "give a file that nl-stage export made");
  if (const int version = object.at("version"); version != kVersion)
    throw Error(ErrorKind::kInput, fmt::format("the archive has version {}; this nl-stage reads version {}", version, kVersion), where,
                "update nl-stage");
  const auto redacted = object.at("redacted").get<std::set<std::string>>();
  ArchiveContents contents{object.at("created_at"),
                           object.at("nl_stage"),
                           {redacted.contains("environment"), redacted.contains("host"), redacted.contains("paths")},
                           {},
                           {}};
  for (const json& bundle : object.at("bundles")) contents.bundles.push_back(bundle_from(bundle, where));
  for (const json& file : object.at("files")) contents.files.push_back(file_from(file, where));
  return contents;
}

}  // namespace

std::string_view key_of(BundleSource source) { return key_in(kSources, source); }
std::string_view key_of(LeftOutReason reason) { return key_in(kReasons, reason); }

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

std::string contents_text(const ArchiveContents& contents) {
  ordered_json out = {{"format", kFormat},
                      {"version", kVersion},
                      {"created_at", contents.created_at},
                      {"nl_stage", contents.nl_stage_version},
                      {"redacted", keys_of(contents.redacted)},
                      {"bundles", ordered_json::array()},
                      {"files", ordered_json::array()}};
  for (const ArchivedBundle& bundle : contents.bundles) {
    ordered_json left_out = ordered_json::array();
    for (const LeftOutFile& file : bundle.left_out) left_out.push_back({{"path", file.path}, {"reason", key_of(file.reason)}});
    out["bundles"].push_back({{"folder", bundle.folder},
                              {"run_id", bundle.run_id},
                              {"name", bundle.name},
                              {"source", key_of(bundle.source)},
                              {"left_out", left_out}});
  }
  for (const ManifestFile& file : contents.files)
    out["files"].push_back({{"path", file.path}, {"size_bytes", file.size_bytes}, {"sha256", file.sha256}});
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

ArchiveContents read_contents(const std::string& text, const std::string& where) {
  try {
    ArchiveContents contents = contents_from(json::parse(text), where);
    check_contents(contents, where);
    return contents;
  } catch (const json::exception& broken) {
    throw Error(ErrorKind::kInput, fmt::format("the archive's list is damaged: {}", broken.what()),
                fmt::format("{}: {}", where, kContentsFile), "copy the archive again from where it was made");
  }
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
