#include "orchestrator/bundle/provenance.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "orchestrator/bundle/version.h"
#include "orchestrator/process/process.h"

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

// "13000" → "13.0"
std::string cuda_version_text(const std::string& number) {
  const int value = std::atoi(number.c_str());
  return value <= 0 ? std::string() : fmt::format("{}.{}", value / 1000, value % 1000 / 10);
}

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

}  // namespace

void describe_machine(const Toolset& tools, Hardware& hardware, Software& software) {
  hardware.driver_version = tools.driver_version;
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

void describe_capture_machine(const fs::path& sqlite_file, const Trace& trace, Hardware& hardware, Software& software) {
  software.nl_stage_version = version();
  software.nsys_version = trace.stats.tool_version;
  try {
    SQLite::Database db(sqlite_file.string(), SQLite::OPEN_READONLY);
    if (!db.tableExists("TARGET_INFO_SYSTEM_ENV")) return;
    SQLite::Statement rows(db, "SELECT name, value FROM TARGET_INFO_SYSTEM_ENV");
    while (rows.executeStep()) {
      const std::string name = rows.getColumn(0).getString();
      const std::string value = rows.getColumn(1).getString();
      if (name == "NvDriverVersion") hardware.driver_version = value;
      if (name == "CpuDescription") hardware.cpu_model = value;
      if (name == "CpuCores") hardware.cpu_count = static_cast<std::uint32_t>(std::atoi(value.c_str()));
      if (name == "CpuArchitecture") hardware.architecture = value;
      if (name == "OsDescription") software.os = value;
      if (name == "SoftwareReleaseVersion") software.kernel = value;
      if (name == "CudaDriverVersion") software.cuda_driver_version = cuda_version_text(value);
    }
  } catch (const SQLite::Exception&) {
    // The machine is a courtesy: an export without it is still whole.
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
  env["cuda"] = or_null(here ? toolkit_version() : run.software.cuda_driver_version);
  env["torch"] = or_null(here ? python_package_version(command, "torch") : "");
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

}  // namespace nl::orchestrator
