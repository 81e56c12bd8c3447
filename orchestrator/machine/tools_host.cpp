#include "orchestrator/machine/tools_host.h"

#include <fnmatch.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "orchestrator/config/conf_files.h"
#include "orchestrator/machine/nvml.h"
#include "orchestrator/sampling/perf_access.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

fs::path cache_folder(const Host& host) {
  if (auto cache = host.variable("XDG_CACHE_HOME"); !cache.empty()) return fs::path(cache) / "nl-stage";
  if (auto home = host.variable("HOME"); !home.empty()) return fs::path(home) / ".cache" / "nl-stage";
  return host.temporary_folder() / ("nl-stage-" + std::to_string(geteuid()));
}

// 2025.10 is newer than 2025.9: runs of digits compare as numbers.
bool newer(const fs::path& a, const fs::path& b) { return strverscmp(a.c_str(), b.c_str()) > 0; }

}  // namespace

fs::path Host::at(const std::string& absolute) const { return root / fs::path(absolute).relative_path(); }

std::string Host::variable(const std::string& name) const {
  auto found = env.find(name);
  return found == env.end() ? std::string() : found->second;
}

std::optional<std::string> Host::read(const std::string& absolute) const {
  std::ifstream in(at(absolute), std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool Host::exists(const std::string& absolute) const {
  std::error_code failed;
  return fs::exists(at(absolute), failed);
}

std::vector<fs::path> Host::match(const std::string& pattern) const {
  std::vector<fs::path> found = {root};
  for (const auto& part : fs::path(pattern).relative_path()) {
    std::vector<fs::path> next;
    for (const auto& folder : found) {
      std::error_code failed;
      if (part.string().find('*') == std::string::npos) {
        if (fs::exists(folder / part, failed)) next.push_back(folder / part);
        continue;
      }
      for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
        if (fnmatch(part.c_str(), entry->path().filename().c_str(), 0) == 0) next.push_back(entry->path());
    }
    found = std::move(next);
  }
  std::sort(found.begin(), found.end(), newer);
  return found;
}

fs::path Host::temporary_folder() const {
  const std::string given = variable("TMPDIR");
  return given.empty() ? at("/tmp") : fs::path(given);
}

Host host_itself() {
  Host host;
  host.env = own_environment();
  utsname names{};
  if (uname(&names) == 0) host.architecture = names.machine;
  host.cache = cache_folder(host);
  host.program_folder = program_folder();
  host.start = [](const ProcessSpec& spec) { return run_process(spec); };
  host.ask_nvml = ask_nvml;
  host.try_perf_events = sampling::try_perf_events;
  host.space = [](const fs::path& path) -> std::optional<FileSpace> {
    struct statvfs numbers{};
    if (statvfs(path.c_str(), &numbers) != 0) return std::nullopt;
    const std::uint64_t block = numbers.f_frsize;
    return FileSpace{numbers.f_bavail * block, numbers.f_blocks * block};
  };
  host.writable = [](const fs::path& path) {
    std::error_code failed;
    return access(path.c_str(), fs::is_directory(path, failed) ? W_OK | X_OK : W_OK) == 0;
  };
  return host;
}

GpuInventory ask_nvml(const std::filesystem::path& library) {
  GpuInventory found;
  const auto nvml = Nvml::load(library, found.trouble);
  if (!nvml) return found;
  found.driver_version = nvml->driver();
  found.cuda_driver_version = nvml->cuda_driver();
  for (const NvmlDevice device : nvml->devices(found.trouble))
    if (auto name = nvml->name(device); !name.empty()) found.names.push_back(std::move(name));
  return found;
}

}  // namespace nl::orchestrator
