#include "orchestrator/recorder/launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "model/error_code.h"
#include "orchestrator/machine/tools.h"
#include "orchestrator/recorder/folders.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

constexpr std::array<std::string_view, 3> kCommandInterpreters = {"python", "sh", "bash"};

// "python3 -m my.server" is "python3": the name of a script or a module says more, where the command begins with an interpreter.
std::string name_after(const std::vector<std::string>& command) {
  std::string name = fs::path(command.front()).filename().string();
  const auto interprets = [&](std::string_view interpreter) { return name.starts_with(interpreter); };
  if (std::any_of(kCommandInterpreters.begin(), kCommandInterpreters.end(), interprets))
    for (std::size_t i = 1; i < command.size(); ++i)
      if (!command[i].starts_with('-')) {
        name = fs::path(command[i]).stem().string();
        break;
      }
  std::string good;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || (c == '.' && !good.empty())) good += c;
  return good.empty() ? "recorder" : good.substr(0, 48);
}

std::string preloaded_with(const std::string& library) {
  const char* before = std::getenv("LD_PRELOAD");
  return before != nullptr && *before != '\0' ? library + ":" + before : library;
}

}  // namespace

RecorderLaunch prepare_recorder(const RecorderSettings& settings, const Config& config, const std::vector<std::string>& command) {
  const std::optional<fs::path> collector = find_collector(config.tools);
  if (!collector)
    throw CodedError(ErrorCode::kToolMissing, "the collector was not found", "tools.collector",
                     "install nl-stage with its collector, or set NL_STAGE_COLLECTOR to libnl_collector.so");
  RecorderLaunch launch;
  launch.name = settings.name.empty() ? name_after(command) : settings.name;
  const std::string library = fs::absolute(*collector).string();
  const fs::path folder = make_recorder_folder(launch.name);
  launch.variables = {{"NL_STAGE_RECORD", "1"},
                      {"NL_STAGE_RECORD_DIR", folder.string()},
                      {"NL_STAGE_RECORD_SECONDS", std::to_string(settings.seconds)},
                      {"NL_STAGE_RECORD_MB", std::to_string(settings.megabytes)},
                      {"NL_STAGE_CUDA_CALLS", config.capture.cuda_calls},
                      {"NL_STAGE_CUDA_GRAPHS", config.capture.cuda_graphs},
                      {"NVTX_INJECTION64_PATH", library},
                      {"CUDA_INJECTION64_PATH", library},
                      {"LD_PRELOAD", preloaded_with(library)}};
  if (!settings.steps.empty()) launch.variables["NL_STAGE_RECORD_STEPS"] = fmt::format("{}", fmt::join(settings.steps, "\n"));
  if (!settings.signal.empty()) launch.variables["NL_STAGE_RECORD_SIGNAL"] = settings.signal;
  if (settings.attach) launch.variables["NL_STAGE_RECORD_ATTACH"] = "1";
  if (!config.tools.cupti.empty()) launch.variables["NL_STAGE_CUPTI"] = config.tools.cupti;
  return launch;
}

void become(const std::vector<std::string>& command, const RecorderLaunch& launch) {
  for (const auto& [name, value] : launch.variables) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  const int error = errno;
  std::error_code ignored;
  fs::remove(launch.variables.at("NL_STAGE_RECORD_DIR"), ignored);
  throw Error(ErrorKind::kWorkload, fmt::format("the program cannot be started: {}", std::strerror(error)), command.front(),
              "check its name and that it may be executed");
}

}  // namespace nl::orchestrator
