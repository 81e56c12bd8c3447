#include "tests/unit/runs/archive/crafted_archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <fstream>

#include "exporters/run_json/run_json.h"
#include "orchestrator/bundle/sha256.h"
#include "tests/catch.h"
#include "tests/unit/runs/ledger/ledger_places.h"

namespace fs = std::filesystem;

namespace nl::test {

void write_crafted(const fs::path& file, const std::vector<CraftedEntry>& entries) {
  archive* out = archive_write_new();
  archive_write_set_format_pax_restricted(out);
  archive_write_add_filter_zstd(out);
  REQUIRE(archive_write_open_filename(out, file.c_str()) == ARCHIVE_OK);
  for (const CraftedEntry& each : entries) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, each.path.c_str());
    archive_entry_set_filetype(entry, each.type);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, static_cast<la_int64_t>(each.text.size()));
    if (!each.link.empty()) archive_entry_set_symlink(entry, each.link.c_str());
    if (!each.hard_link.empty()) archive_entry_set_hardlink(entry, each.hard_link.c_str());
    REQUIRE(archive_write_header(out, entry) == ARCHIVE_OK);
    if (!each.text.empty())
      REQUIRE(archive_write_data(out, each.text.data(), each.text.size()) == static_cast<la_ssize_t>(each.text.size()));
    archive_entry_free(entry);
  }
  REQUIRE(archive_write_free(out) == ARCHIVE_OK);
}

CraftedEntry list_of(const std::vector<CraftedEntry>& files, const std::vector<std::string>& folders) {
  runs::ArchiveContents contents{"2026-11-16T00:00:00Z", "0.1.0", {}, {}, {}};
  for (const std::string& folder : folders) contents.bundles.push_back({folder, folder, "run"});
  for (const CraftedEntry& file : files) contents.files.push_back({file.path, file.text.size(), orchestrator::sha256_text(file.text)});
  return {runs::kContentsFile, runs::contents_text(contents)};
}

std::vector<CraftedEntry> sound_entries() {
  const Run run = ledger_run("run-1", "2026-11-16T00:00:00Z");
  const std::string text = exporters::run_to_json(run), report = "# report\n";
  const std::string manifest = orchestrator::manifest_text(
      run, {{"report.md", report.size(), orchestrator::sha256_text(report)}, {"run.json", text.size(), orchestrator::sha256_text(text)}});
  std::vector<CraftedEntry> entries = {{"run-1/manifest.json", manifest}, {"run-1/report.md", report}, {"run-1/run.json", text}};
  entries.insert(entries.begin(), list_of(entries));
  return entries;
}

fs::path make_bundle(const fs::path& folder, const std::string& run_id, const std::vector<std::pair<std::string, std::string>>& files) {
  const Run run = ledger_run(run_id, "2026-11-16T00:00:00Z");
  fs::create_directories(folder);
  std::ofstream(folder / "run.json") << exporters::run_to_json(run);
  for (const auto& [path, text] : files) {
    fs::create_directories((folder / path).parent_path());
    std::ofstream(folder / path, std::ios::binary) << text;
  }
  const std::string manifest = orchestrator::manifest_text(run, orchestrator::files_with_digests(folder));
  std::ofstream(folder / orchestrator::kManifestFile) << manifest;
  return folder;
}

std::vector<std::string> paths_below(const fs::path& folder) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& item : fs::recursive_directory_iterator(folder, ignored))
    if (!item.is_directory()) paths.push_back(fs::relative(item.path(), folder).generic_string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace nl::test
