#include "orchestrator/machine/tools.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/error.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

struct Place {
  std::string pattern, found_by;
};

struct Candidate {
  fs::path path;
  std::string found_by;
  bool named = false;  // by the config or the environment: no other is tried
};

// Places in the order in which they are tried; {T} is the target folder of this machine's architecture.
const std::vector<Place> kNsysPlaces = {
    {"/usr/local/cuda*/bin/nsys", "CUDA's folder"},
    {"/opt/nvidia/nsight-systems*/*/bin/nsys", "Nsight Systems' folder"},
    {"/opt/nvidia/nsight-systems*/*/{T}/nsys", "Nsight Systems' folder"},
    {"/opt/nvidia/nsight-systems*/bin/nsys", "Nsight Systems' folder"},
    {"/opt/nvidia/nsight-systems*/{T}/nsys", "Nsight Systems' folder"},
    {"/usr/local/cuda*/nsight-systems*/{T}/nsys", "CUDA's folder"},
    {"/usr/lib/nsight-systems/bin/nsys", "Debian's folder"},
    {"/usr/lib/*/nsight-systems/{T}/nsys", "Debian's folder"},
    {"/opt/nvidia/nsight-compute/*/host/{T}/nsys", "inside Nsight Compute"},
    {"/usr/local/cuda*/nsight-compute*/host/{T}/nsys", "inside Nsight Compute"},
};
const std::vector<Place> kNcuPlaces = {
    {"/usr/local/cuda*/bin/ncu", "CUDA's folder"},
    {"/opt/nvidia/nsight-compute/*/ncu", "Nsight Compute's folder"},
    {"/usr/local/cuda*/nsight-compute*/ncu", "CUDA's folder"},
    {"/usr/lib/nsight-compute/ncu", "Debian's folder"},
    {"/usr/lib/*/nsight-compute/ncu", "Debian's folder"},
};
const std::vector<Place> kCuptiPlaces = {
    {"/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so*", ""},
    {"/usr/local/cuda*/targets/*/lib/libcupti.so*", ""},
    {"/usr/local/cuda*/lib64/libcupti.so*", ""},
    {"/usr/lib/*/libcupti.so*", ""},
    {"/usr/lib64/libcupti.so*", ""},
    {"/usr/local/lib/python3*/*-packages/nvidia/*/lib/libcupti.so*", ""},
    {"/usr/lib/python3*/*-packages/nvidia/*/lib/libcupti.so*", ""},
};
const std::vector<Place> kCublasPlaces = {
    {"/usr/local/cuda*/lib64/libcublasLt.so.*", ""},
    {"/usr/local/cuda*/targets/*/lib/libcublasLt.so.*", ""},
    {"/usr/lib/*/libcublasLt.so.*", ""},
    {"/usr/lib64/libcublasLt.so.*", ""},
    {"/usr/local/lib/python3*/*-packages/nvidia/*/lib/libcublasLt.so.*", ""},
    {"/usr/lib/python3*/*-packages/nvidia/*/lib/libcublasLt.so.*", ""},
};
constexpr const char* kNvmlName = "libnvidia-ml.so.1";
const std::vector<Place> kNvmlPlaces = {
    {"/usr/lib/*/libnvidia-ml.so.1", ""},
    {"/usr/lib64/libnvidia-ml.so.1", ""},
    {"/usr/lib/libnvidia-ml.so.1", ""},
    {"/usr/lib/wsl/lib/libnvidia-ml.so.1", ""},
    {"/usr/local/nvidia/lib64/libnvidia-ml.so.1", ""},
};

std::vector<std::string> target_folders(const Host& host) {
  if (host.architecture == "x86_64") return {"target-linux-x64"};
  return {"target-linux-sbsa-armv8", "target-linux-armv8"};
}

std::vector<std::string> split_path(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t end = std::min(list.find(':', start), list.size());
    if (end > start) parts.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::vector<fs::path> expand(const Place& place, const Host& host) {
  const auto hole = place.pattern.find("{T}");
  if (hole == std::string::npos) return host.match(place.pattern);
  std::vector<fs::path> found;
  for (const auto& folder : target_folders(host))
    for (auto& path : host.match(std::string(place.pattern).replace(hole, 3, folder))) found.push_back(path);
  return found;
}

// What the user named, by key or variable; the key wins.
std::optional<Candidate> named(const std::string& key, const std::string& value, const std::string& variable, const Host& host) {
  if (!value.empty()) return Candidate{value, "config " + key, true};
  if (auto set = host.variable(variable); !set.empty()) return Candidate{set, variable, true};
  return std::nullopt;
}

[[noreturn]] void refuse_named(const Candidate& tool, const std::string& why) {
  const bool by_key = tool.found_by.starts_with("config ");
  const std::string name = by_key ? tool.found_by.substr(7) : tool.found_by;
  throw Error(ErrorKind::kTool, fmt::format("{} {}", tool.path.string(), why), name,
              fmt::format("correct {}, or remove it to search the usual places", name));
}

std::vector<Candidate> program_candidates(const std::string& program, const std::vector<Place>& places, const Host& host) {
  std::vector<Candidate> candidates;
  for (const auto& folder : split_path(host.variable("PATH")))
    if (is_executable_file(fs::path(folder) / program)) candidates.push_back({fs::path(folder) / program, "PATH"});
  for (const auto& place : places)
    for (const auto& path : expand(place, host))
      if (is_executable_file(path)) candidates.push_back({path, place.found_by});
  return candidates;
}

ProcessResult ask(const Host& host, const fs::path& program, std::vector<std::string> arguments) {
  ProcessSpec spec;
  spec.argv = {program.string()};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.env = {{"LC_ALL", "C"}};
  spec.timeout_s = 20;
  spec.grace_s = 1;
  return host.start(spec);
}

// Starts it; a CUDA toolkit ships an `nsys` that only says that the real one is not installed.
std::string fill(Tool& tool, const Candidate& candidate, const Host& host) {
  tool.path = tool.found_at = candidate.path;
  tool.found_by = candidate.found_by;
  try {
    const ProcessResult answer = ask(host, tool.path, {"--version"});
    if (answer.timed_out) return "does not answer --version within 20 s";
    tool.version = parse_tool_version(answer.stdout_text + answer.stderr_text);
    if (answer.exit_status != 0) return fmt::format("answers --version with status {}", answer.exit_status);
    if (tool.version.year == 0) return "answers --version without a version";
  } catch (const Error& error) {
    return "cannot be started: " + error.message;
  }
  return {};
}

std::optional<Tool> find_program(const std::optional<Candidate>& chosen, const std::vector<Candidate>& candidates, const Host& host,
                                 std::vector<std::string>& rejected) {
  if (chosen && !is_executable_file(chosen->path)) {
    std::error_code failed;
    refuse_named(*chosen, fs::exists(chosen->path, failed) ? "is not executable" : "does not exist");
  }
  for (const auto& candidate : chosen ? std::vector<Candidate>{*chosen} : candidates) {
    Tool tool;
    const std::string trouble = fill(tool, candidate, host);
    if (trouble.empty()) return tool;
    if (candidate.named) refuse_named(candidate, trouble);
    rejected.push_back(fmt::format("{} {}", candidate.path.string(), trouble));
  }
  return std::nullopt;
}

std::optional<fs::path> find_library(const std::optional<Candidate>& chosen, const std::string& name, const std::vector<Place>& places,
                                     const Host& host) {
  std::error_code failed;
  if (chosen && !fs::exists(chosen->path, failed)) refuse_named(*chosen, "does not exist");
  if (chosen) return chosen->path;
  for (const auto& folder : split_path(host.variable("LD_LIBRARY_PATH")))
    if (fs::exists(fs::path(folder) / name, failed)) return fs::path(folder) / name;
  for (const auto& place : places)
    if (auto found = host.match(place.pattern); !found.empty()) return found.front();
  for (const char* home : {"VIRTUAL_ENV", "CONDA_PREFIX", "HOME"})
    if (std::string base = host.variable(home); !base.empty()) {
      if (std::string_view(home) == "HOME") base += "/.local";
      Host below = host;
      below.root = base;
      if (auto found = below.match("/lib/python3*/site-packages/nvidia/*/lib/" + name + "*"); !found.empty()) return found.front();
    }
  return std::nullopt;
}

std::optional<fs::path> collector_file(const ToolOptions& overrides, const Host& host) {
  const std::optional<Candidate> chosen = named("tools.collector", overrides.collector, "NL_STAGE_COLLECTOR", host);
  std::error_code failed;
  if (chosen && !fs::exists(chosen->path, failed)) refuse_named(*chosen, "does not exist");
  if (chosen) return chosen->path;
  // Installed: <prefix>/bin and <prefix>/lib…/nl-stage. Built: cli/ and collector/ of the build folder.
  const fs::path above = host.program_folder.parent_path();
  Host below = host;
  below.root = above;
  for (const char* pattern : {"/collector/libnl_collector.so", "/lib/nl-stage/libnl_collector.so", "/lib/*/nl-stage/libnl_collector.so",
                              "/lib64/nl-stage/libnl_collector.so"})
    if (auto found = below.match(pattern); !found.empty()) return found.front();
  return std::nullopt;
}

std::optional<fs::path> nvml_file(const ToolOptions& overrides, const Host& host) {
  return find_library(named("tools.nvml", overrides.nvml, "NL_STAGE_NVML", host), kNvmlName, kNvmlPlaces, host);
}

void find_gpus(Toolset& tools, const Host& host) {
  // Without a file in the usual places the loader's own search may still know the library.
  const fs::path library = tools.nvml.value_or(kNvmlName);
  const GpuInventory found = host.ask_nvml(library);
  if (!tools.nvml && found.trouble.empty()) tools.nvml = library;
  tools.gpus = found.names;
  tools.driver_version = found.driver_version;
  tools.cuda_driver_version = found.cuda_driver_version;
  tools.gpu_trouble = found.trouble;
}

void learn_options(Toolset& tools, const Host& host) {
  const auto options = [&](const fs::path& program, std::vector<std::string> arguments) {
    try {
      const ProcessResult answer = ask(host, program, std::move(arguments));
      return parse_help_options(answer.stdout_text.empty() ? answer.stderr_text : answer.stdout_text);
    } catch (const Error&) {
      return std::vector<std::string>();
    }
  };
  if (tools.nsys) tools.nsys->help_options = options(tools.nsys->path, {"profile", "--help"});
  if (tools.nsys) tools.nsys->export_options = options(tools.nsys->path, {"export", "--help"});
  if (tools.ncu) tools.ncu->help_options = options(tools.ncu->path, {"--help"});
}

}  // namespace

fs::path find_nvml(const ToolOptions& overrides, const Host& host) { return nvml_file(overrides, host).value_or(kNvmlName); }

std::optional<fs::path> find_collector(const ToolOptions& overrides, const Host& host) { return collector_file(overrides, host); }

fs::path find_cublas_lt(const Host& host) { return find_library({}, "libcublasLt.so", kCublasPlaces, host).value_or("libcublasLt.so.12"); }

Toolset find_tools(const ToolOptions& overrides, const Host& host) {
  Toolset tools;
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (program.filename() == "nl-stage") tools.program = program;
  tools.nsys = find_program(named("tools.nsys", overrides.nsys, "NL_STAGE_NSYS", host), program_candidates("nsys", kNsysPlaces, host), host,
                            tools.rejected);
  tools.ncu = find_program(named("tools.ncu", overrides.ncu, "NL_STAGE_NCU", host), program_candidates("ncu", kNcuPlaces, host), host,
                           tools.rejected);
  tools.cupti = find_library(named("tools.cupti", overrides.cupti, "NL_STAGE_CUPTI", host), "libcupti.so", kCuptiPlaces, host);
  tools.nvml = nvml_file(overrides, host);
  tools.collector = collector_file(overrides, host);
  if (tools.nsys) settle_importer(*tools.nsys, host);
  learn_options(tools, host);
  find_gpus(tools, host);
  for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"})
    if (!host.variable(variable).empty()) tools.injection_env.emplace_back(variable);
  return tools;
}

}  // namespace nl::orchestrator
