#include "orchestrator/bundle/provenance.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "orchestrator/process/process.h"
#include "parsers/nsys/sqlite.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

// The value of `key` in a file of "key<separator>value" lines, without quotes.
std::string value_in(const fs::path& file, const std::string& key, char separator) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const auto cut = line.find(separator);
    if (cut == std::string::npos) continue;
    const std::string name = line.substr(0, line.find_last_not_of(" \t", cut > 0 ? cut - 1 : 0) + 1);
    if (name != key) continue;
    const auto first = line.find_first_not_of(" \t\"", cut + 1), last = line.find_last_not_of(" \t\"");
    return first == std::string::npos ? "" : line.substr(first, last - first + 1);
  }
  return {};
}

// 13000 → "13.0"
std::string cuda_version_text(int value) { return value <= 0 ? std::string() : fmt::format("{}.{}", value / 1000, value % 1000 / 10); }

std::string toolkit_version() {
  std::ifstream file("/usr/local/cuda/version.json");
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_discarded() || !json.contains("cuda")) return {};
  return json["cuda"].value("version", "");
}

// "python3 run.py" or "/opt/venv/bin/python run.py"; also "env X=1 python …" stays unknown.
fs::path interpreter_of(const std::vector<std::string>& command) {
  if (command.empty() || fs::path(command[0]).filename().string().rfind("python", 0) != 0) return {};
  try {
    return find_executable(command[0]);
  } catch (const Error&) {
    return {};
  }
}

// torch-2.5.1+cu124.dist-info → 2.5.1+cu124
std::string version_in(const fs::path& folder, const std::string& package) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    const std::string ending = ".dist-info";
    if (name.rfind(package + "-", 0) == 0 && name.size() > ending.size() &&
        name.compare(name.size() - ending.size(), ending.size(), ending) == 0)
      return name.substr(package.size() + 1, name.size() - ending.size() - package.size() - 1);
  }
  return {};
}

// The CUDA runtime that a build of PyTorch brings: "2.5.1+cu124" → "12.4", "2.9.0+cu130" → "13.0". Empty where the version does not say.
std::string cuda_of_torch(const std::string& version) {
  const auto mark = version.find("+cu");
  const std::string digits = mark == std::string::npos ? "" : version.substr(mark + 3);
  if (digits.size() < 3 || digits.find_first_not_of("0123456789") != std::string::npos) return {};
  return digits.substr(0, digits.size() - 1) + "." + digits.back();
}

// What is known of CUDA: the newest that the driver supports, what the workload's process runs with, what is installed beside it.
struct CudaVersions {
  std::string driver, runtime, toolkit;

  const std::string& best() const { return !runtime.empty() ? runtime : !toolkit.empty() ? toolkit : driver; }
};

CudaVersions cuda_versions(const Run& run, bool here, const std::string& torch) {
  CudaVersions cuda{run.software.cuda_driver_version, {}, here ? toolkit_version() : ""};
  const auto runtime = run.software.versions.find("cuda_runtime");
  cuda.runtime = runtime != run.software.versions.end() ? runtime->second : cuda_of_torch(torch);
  return cuda;
}

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

bool is_commit(const std::string& text) {
  return (text.size() == 40 || text.size() == 64) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// A worktree and a submodule have a file there: "gitdir: /home/a/llm/.git/worktrees/x".
fs::path git_folder(const fs::path& repository) {
  const fs::path git = repository / ".git";
  std::error_code failed;
  if (fs::is_directory(git, failed)) return git;
  const std::string line = first_line(git), mark = "gitdir: ";
  return line.starts_with(mark) ? repository / line.substr(mark.size()) : fs::path();
}

// "4b825dc… refs/heads/main" among the lines of packed-refs.
std::string packed_reference(const fs::path& file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const auto space = line.find(' ');
    if (space != std::string::npos && line.substr(space + 1) == name) return line.substr(0, space);
  }
  return {};
}

std::vector<fs::path> places_of(const WorkloadOptions& workload) {
  const fs::path start = workload.working_directory.empty() ? fs::path(".") : fs::path(workload.working_directory);
  std::vector<fs::path> places;
  std::error_code failed;
  for (const std::string& word : workload.command)
    if ((word.ends_with(".py") || word.ends_with(".sh")) && fs::is_regular_file(start / word, failed)) places.push_back(start / word);
  if (!workload.command.empty() && workload.command[0].find('/') != std::string::npos) places.push_back(start / workload.command[0]);
  places.push_back(start);
  return places;
}

// Files that git does not track may be a dataset of millions: they are not looked for.
std::optional<bool> modified_in(const fs::path& repository) {
  ProcessSpec git;
  git.argv = {"git",
              "-c",
              "core.fsmonitor=false",
              "-C",
              repository.string(),
              "status",
              "--porcelain",
              "--untracked-files=no",
              "--ignore-submodules=dirty"};
  git.env = {{"GIT_OPTIONAL_LOCKS", "0"}, {"LC_ALL", "C"}};
  git.timeout_s = 2;
  git.grace_s = 0.2;
  try {
    const ProcessResult result = run_process(git);
    if (result.exit_status != 0 || result.timed_out || result.interrupted) return std::nullopt;
    return !result.stdout_text.empty();
  } catch (const Error&) {
    return std::nullopt;  // there is no git
  }
}

}  // namespace

void describe_machine(const Toolset& tools, Hardware& hardware, Software& software) {
  hardware.driver_version = tools.driver_version;
  software.cuda_driver_version = cuda_version_text(tools.cuda_driver_version);
  hardware.cpu_model = value_in("/proc/cpuinfo", "model name", ':');
  hardware.cpu_count = std::thread::hardware_concurrency();
  hardware.memory_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  utsname names = {};
  uname(&names);
  hardware.architecture = names.machine;
  software.nl_stage_version = version();
  software.os = value_in("/etc/os-release", "PRETTY_NAME", '=');
  software.kernel = names.release;
}

void describe_capture_machine(const fs::path& nsys_export, const Trace& trace, Hardware& hardware, Software& software) {
  software.nl_stage_version = version();
  software.nsys_version = trace.stats.tool_version;
  for (const auto& [name, value] : parsers::read_nsys_machine(nsys_export)) {
    if (name == "NvDriverVersion") hardware.driver_version = value;
    if (name == "CpuDescription") hardware.cpu_model = value;
    if (name == "CpuCores") hardware.cpu_count = static_cast<std::uint32_t>(std::atoi(value.c_str()));
    if (name == "CpuArchitecture") hardware.architecture = value;
    if (name == "OsDescription") software.os = value;
    if (name == "SoftwareReleaseVersion") software.kernel = value;
    if (name == "CudaDriverVersion") software.cuda_driver_version = cuda_version_text(std::atoi(value.c_str()));
  }
}

std::string python_package_version(const std::vector<std::string>& command, const std::string& package) {
  const fs::path python = interpreter_of(command);
  if (python.empty()) return {};
  // A virtual environment's bin/python is a link out of it, so both ends are looked at.
  std::error_code ignored;
  for (const fs::path& binary : {python, fs::canonical(python, ignored)}) {
    const fs::path prefix = binary.parent_path().parent_path();
    if (auto found = version_in(prefix / "lib/python3/dist-packages", package); !found.empty()) return found;
    for (const fs::path& lib : {prefix / "lib", prefix / "local/lib"})
      for (const auto& entry : fs::directory_iterator(lib, ignored)) {
        if (entry.path().filename().string().rfind("python3", 0) != 0) continue;
        for (const char* packages : {"site-packages", "dist-packages"})
          if (auto found = version_in(entry.path() / packages, package); !found.empty()) return found;
      }
  }
  return {};
}

std::string env_json(const Run& run, const Config& config) {
  auto or_null = [](const std::string& text) { return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text); };
  const bool here = run.provenance.tracer != Tracer::kImport;
  const auto& command = config.workload.command;
  nlohmann::ordered_json env;
  env["gpu"] = run.hardware.gpus.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(run.hardware.gpus[0].name);
  env["gpu_count"] = run.hardware.gpus.size();
  const std::string torch = here ? python_package_version(command, "torch") : "";
  const CudaVersions cuda = cuda_versions(run, here, torch);
  env["cuda"] = or_null(cuda.best());
  env["cuda_driver"] = or_null(cuda.driver);
  env["cuda_runtime"] = or_null(cuda.runtime);
  env["cuda_toolkit"] = or_null(cuda.toolkit);
  env["torch"] = or_null(torch);
  env["transformers"] = or_null(here ? python_package_version(command, "transformers") : "");
  env["python"] = or_null(here ? interpreter_of(command).string() : "");
  env["driver"] = or_null(run.hardware.driver_version);
  env["os"] = or_null(run.software.os);
  env["kernel"] = or_null(run.software.kernel);
  env["cpu"] = or_null(run.hardware.cpu_model);
  env["cpu_count"] = run.hardware.cpu_count;
  env["architecture"] = or_null(run.hardware.architecture);
  env["nsys"] = or_null(run.software.nsys_version);
  env["ncu"] = or_null(run.software.ncu_version);
  env["nl_stage"] = run.software.nl_stage_version;
  return env.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

const char* version() { return NL_STAGE_VERSION; }

fs::path repository_above(const fs::path& path) {
  std::error_code failed;
  for (fs::path folder = fs::weakly_canonical(path, failed); !folder.empty(); folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", failed)) return folder;
    if (folder == folder.root_path()) break;
  }
  return {};
}

std::string revision_of(const fs::path& repository) {
  const fs::path git = git_folder(repository);
  const std::string head = first_line(git / "HEAD"), mark = "ref: ";
  if (is_commit(head)) return head;
  if (git.empty() || !head.starts_with(mark)) return {};
  const std::string name = head.substr(mark.size());
  const std::string common = first_line(git / "commondir");  // a worktree's branches are kept beside those of the others
  const fs::path shared = common.empty() ? git : git / common;
  for (const std::string& commit : {first_line(git / name), first_line(shared / name), packed_reference(shared / "packed-refs", name)})
    if (is_commit(commit)) return commit;
  return {};
}

std::optional<Repository> repository_of(const WorkloadOptions& workload) {
  for (const fs::path& place : places_of(workload))
    if (const fs::path path = repository_above(place); !path.empty())
      return Repository{path.string(), revision_of(path), modified_in(path)};
  return std::nullopt;
}

}  // namespace nl::orchestrator
