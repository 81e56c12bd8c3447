#include "orchestrator/doctor/checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>

#include <map>

#include "model/error.h"
#include "orchestrator/capture/plan.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

constexpr const char* kGetNsys = "sudo apt-get install nsight-systems   # from NVIDIA's repository, or Nsight Systems from NVIDIA's site";
constexpr const char* kGetNcu = "sudo apt-get install cuda-nsight-compute-13-0   # from NVIDIA's repository";

// The one that this nl-stage was built in, as <tree>/<build>/cli/nl-stage; empty where it is installed, which has no tools/.
fs::path source_tree(const Host& host) {
  const fs::path tree = host.program_folder.parent_path().parent_path();
  std::error_code failed;
  return fs::is_regular_file(tree / "tools/fetch-nsys", failed) ? tree : fs::path();
}

std::string get_nsys(const Host& host) {
  const fs::path tree = source_tree(host);
  return tree.empty() ? kGetNsys
                      : fmt::format("sudo apt-get install nsight-systems   # or {}, which touches nothing outside its folder",
                                    (tree / "tools/fetch-nsys").string());
}

std::string get_collector(const Host& host) {
  const fs::path tree = source_tree(host);
  return tree.empty() ? "install the nl-stage package again, which has it, or name one: NL_STAGE_COLLECTOR=PATH"
                      : fmt::format("cd {} && tools/setup && meson setup --reconfigure {build} && ninja -C {build}", tree.string(),
                                    fmt::arg("build", host.program_folder.parent_path().filename().string()));
}

std::string found_text(const Tool& tool) {
  std::string text = fmt::format("{} at {} ({})", tool.version.text(), tool.found_at.string(), tool.found_by);
  if (tool.path != tool.found_at) text += fmt::format(", started as {}", tool.path.string());
  return text;
}

std::string install_command(const std::vector<std::string>& libraries) {
  std::vector<std::string> packages, unknown;
  for (const auto& library : libraries)
    if (auto package = package_of(library); !package.empty()) packages.push_back(package);
    else unknown.push_back(library);
  if (!packages.empty()) return fmt::format("sudo apt-get install {}", fmt::join(packages, " "));
  return fmt::format("sudo apt-get install apt-file && sudo apt-file update && apt-file search {}", unknown.front());
}

std::string importer_fix(const Tool& nsys, const Host& host) {
  if (!nsys.missing_libraries.empty()) return install_command(nsys.missing_libraries);
  if (nsys.importer.empty()) return get_nsys(host);
  std::error_code failed;
  const fs::path home = fs::weakly_canonical(nsys.found_at, failed).parent_path().parent_path();
  const bool arm = nsys.found_at.string().find("armv8") != std::string::npos;
  return fmt::format("sudo ln -s {} {}", nsys.importer.parent_path().string(),
                     (home / (arm ? "host-linux-armv8" : "host-linux-x64")).string());
}

}  // namespace

std::string package_of(const std::string& library) {
  static const std::map<std::string, std::string> packages = {
      {"libdw.so.1", "libdw1"},
      {"libelf.so.1", "libelf1"},
      {"libssh.so", "libssh-4"},
      {"libssh.so.4", "libssh-4"},
      {"libdbus-1.so.3", "libdbus-1-3"},
      {"libglib-2.0.so.0", "libglib2.0-0"},
      {"libkrb5.so.3", "libkrb5-3"},
      {"libgssapi_krb5.so.2", "libgssapi-krb5-2"},
      {"libz.so.1", "zlib1g"},
      {"libcrypto.so.3", "libssl3"},
      {"libssl.so.3", "libssl3"},
      {"libstdc++.so.6", "libstdc++6"},
      {"libxcb.so.1", "libxcb1"},
      {"libX11.so.6", "libx11-6"},
      {"libGL.so.1", "libgl1"},
      {"libEGL.so.1", "libegl1"},
      {"libnss3.so", "libnss3"},
      {"libnspr4.so", "libnspr4"},
      {"libxkbcommon.so.0", "libxkbcommon0"},
      {"libfontconfig.so.1", "libfontconfig1"},
      {"libfreetype.so.6", "libfreetype6"},
      {"liblzma.so.5", "liblzma5"},
      {"libbz2.so.1.0", "libbz2-1.0"},
      {"libnuma.so.1", "libnuma1"},
  };
  const auto found = packages.find(library);
  return found == packages.end() ? "" : found->second;
}

Check check_nsys(const Toolset& tools, const Host& host) {
  const std::string id = "nsys", subject = "Nsight Systems";
  if (tools.nsys) return passed(id, subject, found_text(*tools.nsys));
  return {id, tools.collector ? CheckLevel::kWarning : CheckLevel::kBlocked, subject,
          !tools.collector     ? "not found; the collector is not found either: nothing can be captured"
          : tools.gpus.empty() ? "not found: only NVTX ranges can be captured, by nl-stage's own collector"
                               : "not found: nl-stage's own collector records kernels and ranges (CUPTI)",
          get_nsys(host)};
}

Check check_importer(const Toolset& tools, const Host& host) {
  const std::string id = "nsys.importer", subject = "nsys importer";
  const Tool& nsys = *tools.nsys;
  if (nsys.importer_trouble.empty())
    return passed(id, subject, nsys.importer.empty() ? "found by nsys itself" : "starts: " + nsys.importer.string());
  std::string finding = fmt::format("{}: {}; captures would end without a report",
                                    nsys.importer.empty() ? "not found" : nsys.importer.string(), nsys.importer_trouble);
  if (nsys.missing_libraries.size() > 1) finding += fmt::format(" (missing: {})", fmt::join(nsys.missing_libraries, ", "));
  return {id, CheckLevel::kBlocked, subject, finding, importer_fix(nsys, host)};
}

Check check_ncu(const Toolset& tools, const Config& config) {
  const std::string id = "ncu", subject = "Nsight Compute";
  if (tools.ncu) return passed(id, subject, found_text(*tools.ncu));
  const CounterChoice counts = choose_counters(config, tools);
  const bool asked = counts.missing && counts.missing->code != Code::kCountersOff;
  return {id, CheckLevel::kWarning, subject,
          tools.gpus.empty()              ? "not found; without a GPU there is nothing to measure"
          : counts.meter == Meter::kCupti ? "not found: nl-stage's own collector counts instead (CUPTI)"
          : asked                         ? "not found: kernels are timed, but not measured"
                                          : "not found; this configuration does not ask for it",
          kGetNcu};
}

Check check_gpu(const Toolset& tools, const Host& host) {
  const std::string id = "gpu", subject = "GPU and driver", version = tools.driver_version.empty() ? "unknown" : tools.driver_version;
  if (!tools.gpus.empty()) return passed(id, subject, fmt::format("{}; driver {}", fmt::join(tools.gpus, ", "), version));
  if (!host.exists("/proc/driver/nvidia/version"))
    return {id, CheckLevel::kWarning, subject, "not found: NVTX ranges can be captured, kernels cannot",
            "run on a machine with an NVIDIA GPU and its driver"};
  if (host.match("/dev/nvidia[0-9]*").empty() && !host.exists("/dev/dxg"))
    return {id, CheckLevel::kWarning, subject,
            "the driver is loaded, but there is no /dev/nvidia*: this container was started without a GPU",
            "docker run --gpus all …   # with the NVIDIA container toolkit"};
  return {id, CheckLevel::kWarning, subject, fmt::format("the driver is loaded, but NVML says: {}", tools.gpu_trouble),
          "nvidia-smi   # a version mismatch needs a reboot or a matching libnvidia-ml"};
}

Check check_cupti(const Toolset& tools) {
  return passed("cupti", "CUPTI",
                tools.cupti ? tools.cupti->string()
                            : "not found; nsys and ncu bring their own, the collector looks for one in the workload's process too");
}

Check check_collector(const Toolset& tools, const Host& host) {
  const std::string id = "collector", subject = "collector";
  if (tools.collector) return passed(id, subject, tools.collector->string());
  return {id, CheckLevel::kWarning, subject, "libnl_collector.so was not found: there is no fallback where nsys is missing",
          get_collector(host)};
}

std::vector<Check> check_rejected(const Toolset& tools) {
  std::vector<Check> checks;
  for (const auto& text : tools.rejected)
    checks.push_back({"tools.rejected", CheckLevel::kWarning, "not used", text,
                      "remove it, or name the right one: NL_STAGE_NSYS=PATH, NL_STAGE_NCU=PATH"});
  return checks;
}

Check check_trial_capture(const Toolset& tools, const Host& host) {
  const std::string id = "nsys.trial", subject = "trial capture";
  std::string folder = (host.temporary_folder() / "nl-stage-trial-XXXXXX").string();
  if (!mkdtemp(folder.data()))
    return {id, CheckLevel::kBlocked, subject, fmt::format("no folder can be made in {}", host.temporary_folder().string()),
            "export TMPDIR=DIR   # a folder that you may write to"};
  ProcessSpec spec;
  spec.argv = {tools.nsys->path.string(),       "profile", "--trace=nvtx", "--sample=none", "--cpuctxsw=none",
               "--output=" + folder + "/trial", "true"};
  spec.env.insert(tools.nsys->env.begin(), tools.nsys->env.end());
  spec.unset_env = tools.injection_env;
  spec.timeout_s = 60;
  std::string answer;
  try {
    const ProcessResult result = host.start(spec);
    answer = result.timed_out ? "it did not end within 60 s" : result.stderr_text.empty() ? result.stdout_text : result.stderr_text;
  } catch (const Error& error) {
    answer = error.message;
  }
  std::error_code ignored;
  const bool made = fs::exists(folder + "/trial.nsys-rep", ignored);
  fs::remove_all(folder, ignored);
  if (made) return passed(id, subject, "nsys traced `true` and made a report");
  return {id, CheckLevel::kBlocked, subject, fmt::format("nsys traced `true` but made no report: {}", answer.substr(0, answer.find('\n'))),
          tools.nsys->importer_trouble.empty() ? get_nsys(host) : importer_fix(*tools.nsys, host)};
}

}  // namespace nl::orchestrator
