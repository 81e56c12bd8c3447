#include "runs/archive/read_file.h"

#include <algorithm>
#include <vector>

#include "model/error.h"
#include "orchestrator/bundle/sha256.h"
#include "runs/archive/contents.h"
#include "runs/archive/tar.h"

namespace fs = std::filesystem;

namespace nl::runs {
namespace {

constexpr std::uint64_t kMostListBytes = 64 << 20;
constexpr std::size_t kMostArchives = 64;  // of a folder that are looked into

std::string entry_text(TarReader& tar, std::uint64_t size_bytes) {
  std::string text(size_bytes, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const std::size_t got = tar.read(text.data() + filled, text.size() - filled);
    if (got == 0) break;
    filled += got;
  }
  text.resize(filled);
  return text;
}

// Nothing where it does not begin with a list.
std::optional<ArchiveContents> list_in(TarReader& tar, const fs::path& archive) {
  const auto first = tar.next();
  if (!first || first->path != kContentsFile || first->kind != TarEntryKind::kFile || first->size_bytes > kMostListBytes)
    return std::nullopt;
  return read_contents(entry_text(tar, first->size_bytes), archive.string());
}

const ArchivedBundle* bundle_of(const ArchiveContents& contents, const std::string& run_id) {
  const auto found =
      std::find_if(contents.bundles.begin(), contents.bundles.end(), [&](const auto& each) { return each.run_id == run_id; });
  return found != contents.bundles.end() ? &*found : nullptr;
}

bool has_run(const fs::path& archive, const std::string& run_id) {
  try {
    TarReader tar(archive);
    const auto contents = list_in(tar, archive);
    return contents && bundle_of(*contents, run_id) != nullptr;
  } catch (const Error&) {
    return false;
  }
}

std::vector<fs::path> archives_in(const fs::path& folder) {
  std::vector<fs::path> archives;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if ((name.ends_with(".nlz") || name.ends_with(".tar.zst")) && entry.is_regular_file(ignored)) archives.push_back(entry.path());
    if (archives.size() >= kMostArchives) break;
  }
  std::sort(archives.begin(), archives.end());
  return archives;
}

}  // namespace

fs::path archive_beside(const fs::path& bundle, const std::string& run_id) {
  if (bundle.empty()) return {};
  std::error_code ignored;
  for (const char* ending : {".nlz", ".tar.zst"})
    if (const fs::path own = bundle.string() + ending; fs::is_regular_file(own, ignored) && has_run(own, run_id)) return own;
  for (const fs::path& archive : archives_in(bundle.parent_path()))
    if (has_run(archive, run_id)) return archive;
  return {};
}

std::optional<std::string> archived_file(const fs::path& archive, const std::string& run_id, const std::string& name,
                                         std::uint64_t most_bytes) {
  TarReader tar(archive);
  const auto contents = list_in(tar, archive);
  const ArchivedBundle* bundle = contents ? bundle_of(*contents, run_id) : nullptr;
  if (bundle == nullptr) return std::nullopt;
  const std::string path = bundle->folder + "/" + name;
  const auto listed = std::find_if(contents->files.begin(), contents->files.end(), [&](const auto& file) { return file.path == path; });
  if (listed == contents->files.end() || listed->size_bytes > most_bytes) return std::nullopt;
  while (const auto entry = tar.next()) {
    if (entry->path != path || entry->kind != TarEntryKind::kFile || entry->size_bytes != listed->size_bytes) continue;
    std::string text = entry_text(tar, entry->size_bytes);
    if (const std::string digest = sha256_text(text); !digest.empty() && digest != listed->sha256)
      throw Error(ErrorKind::kInput, "a file of the archive was changed, or is damaged", archive.string() + ": " + path,
                  "copy the archive again from where it was made");
    return text;
  }
  return std::nullopt;
}

}  // namespace nl::runs
