#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/sha256.h"
#include "model/words.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

struct Entry {
  fs::path relative;
  std::uintmax_t size = 0;
  std::string sha256;
};

std::vector<Entry> files_of(const fs::path& folder) {
  std::vector<Entry> entries;
  for (const auto& item : fs::recursive_directory_iterator(folder)) {
    const fs::path relative = fs::relative(item.path(), folder);
    if (item.is_regular_file() && relative != "manifest.json") entries.push_back({relative, item.file_size(), {}});
  }
  return entries;
}

// Reports of gigabytes: as many files at a time as there are processors, the largest first.
void hash_all(const fs::path& folder, std::vector<Entry>& entries) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.size > b.size; });
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  auto work = [&] {
    try {
      for (std::size_t i; (i = next++) < entries.size();) entries[i].sha256 = sha256_file(folder / entries[i].relative);
    } catch (...) {
      std::lock_guard lock(failure_mutex);
      failure = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::min<std::size_t>(std::thread::hardware_concurrency(), entries.size()); ++i)
    threads.emplace_back(work);
  work();
  for (auto& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.relative < b.relative; });
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

void Bundle::write_manifest(const Run& run) const {
  auto entries = files_of(path_);
  hash_all(path_, entries);
  auto or_null = [](const std::string& text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
  };
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
  for (const auto& entry : entries)
    manifest["files"].push_back(
        {{"path", entry.relative.generic_string()}, {"size_bytes", entry.size}, {"sha256", or_null(entry.sha256)}});
  write("manifest.json", manifest.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace nl::orchestrator
