#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "model/error_code.h"
#include "model/input_bounds.h"
#include "model/parallel.h"
#include "model/words.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/bundle/sha256.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

std::vector<ManifestFile> files_of(const fs::path& folder) {
  std::vector<ManifestFile> files;
  for (const auto& item : fs::recursive_directory_iterator(folder)) {
    const std::string relative = item.path().lexically_relative(folder).generic_string();  // a link is itself, not what it leads to
    if (item.is_regular_file() && relative != kManifestFile) files.push_back({relative, item.file_size(), {}});
  }
  return files;
}

// Reports of gigabytes: as many files at a time as there are processors, the largest first.
void hash_all(const fs::path& folder, std::vector<ManifestFile>& entries) {
  std::sort(entries.begin(), entries.end(), [](const ManifestFile& a, const ManifestFile& b) { return a.size_bytes > b.size_bytes; });
  each_in_parallel(entries.size(), [&](std::size_t i) { entries[i].sha256 = sha256_file(folder / entries[i].path); });
  std::sort(entries.begin(), entries.end(), [](const ManifestFile& a, const ManifestFile& b) { return a.path < b.path; });
}

nlohmann::ordered_json pass_json(const PassRecord& pass) {
  nlohmann::ordered_json out;
  out["name"] = key_of(pass.kind);
  out["outcome"] = key_of(pass.outcome);
  out["exit_status"] = pass.exit_status ? nlohmann::ordered_json(*pass.exit_status) : nullptr;
  out["duration_s"] = static_cast<double>(pass.duration_ns) / 1e9;
  return out;
}

}  // namespace

std::vector<ManifestFile> files_with_digests(const fs::path& folder) {
  std::vector<ManifestFile> files = files_of(folder);
  hash_all(folder, files);
  return files;
}

std::string manifest_text(const Run& run, const std::vector<ManifestFile>& files) {
  auto or_null = [](const std::string& text) { return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text); };
  nlohmann::ordered_json manifest;
  manifest["schema_version"] = "1.0.0";
  manifest["run_id"] = run.run_id;
  manifest["created_at"] = run.created_at;
  manifest["status"] = key_of(run.status);
  manifest["tools"] = {{"nl-stage", run.software.nl_stage_version},
                       {"nsys", or_null(run.software.nsys_version)},
                       {"ncu", or_null(run.software.ncu_version)}};
  manifest["passes"] = nlohmann::ordered_json::array();
  for (const auto& pass : run.provenance.passes) manifest["passes"].push_back(pass_json(pass));
  manifest["files"] = nlohmann::ordered_json::array();
  for (const ManifestFile& file : files)
    manifest["files"].push_back({{"path", file.path}, {"size_bytes", file.size_bytes}, {"sha256", or_null(file.sha256)}});
  return manifest.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::vector<ManifestFile> read_manifest(const fs::path& bundle) {
  const fs::path path = bundle / kManifestFile;
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw CodedError(ErrorCode::kBundleDamaged, "the bundle has no manifest.json: it is not finished, or only a part of it is here",
                     bundle.string(), "wait for its run to end, or use a whole copy of the bundle");
  try {
    std::vector<ManifestFile> files;
    const std::string text = read_run_text(path);
    const auto manifest = nlohmann::json::parse(json_within_bounds(text, path.string()));
    for (const auto& file : manifest.at("files"))
      files.push_back({file.at("path"), file.at("size_bytes"), file.at("sha256").is_null() ? "" : file.at("sha256").get<std::string>()});
    return files;
  } catch (const nlohmann::json::exception& broken) {
    throw CodedError(ErrorCode::kBundleDamaged, fmt::format("the manifest is damaged: {}", json_fault(broken.what())), path.string(),
                     "use an undamaged copy of the bundle");
  }
}

void Bundle::write_manifest(const Run& run) const {
  write(kManifestFile, manifest_text(run, files_with_digests(path_)));
  make_private(path_);  // the tools write their files as the user's umask has it
}

}  // namespace nl::orchestrator
