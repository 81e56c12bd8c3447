#include "collector/gpu/launches.h"

#include <cstring>

#include "collector/gpu/calls.h"
#include "collector/gpu/stream_capture.h"
#include "collector/nvtx/recorder.h"
#include "collector/trace_format.h"

namespace nl::collector {
namespace {

enum class Launcher : std::uint8_t { kNone, kKernel, kKernelEx, kGraph };

constinit Launcher launchers[kMaxFunctions] = {};

Launcher launcher_of(const char* name) {
  const auto is = [&](const char* function) {
    const std::size_t length = std::strlen(function);
    return std::strncmp(name, function, length) == 0 && (name[length] == '\0' || std::strcmp(name + length, "_ptsz") == 0);
  };
  if (is("cuLaunchKernelEx")) return Launcher::kKernelEx;
  if (is("cuGraphLaunch")) return Launcher::kGraph;
  return is("cuLaunchKernel") || is("cuLaunchCooperativeKernel") ? Launcher::kKernel : Launcher::kNone;
}

struct LaunchedWork {
  std::uint32_t what = 0;
  void* stream = nullptr;
};

// A function is one address all through the process; its name would have to be read.
std::uint32_t number_of(const void* function) {
  return static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(function) * 0x9E3779B97F4A7C15ULL) >> 32) & ~1U;
}

LaunchedWork launched_by(Launcher launcher, const void* arguments) {
  if (launcher == Launcher::kGraph)
    return {trace_format::kGraphLaunched, static_cast<const cupti::GraphLaunchArguments*>(arguments)->stream};
  if (launcher == Launcher::kKernelEx) {
    const auto& launch = *static_cast<const cupti::LaunchExArguments*>(arguments);
    return {number_of(launch.function), launch.config != nullptr ? launch.config->stream : nullptr};
  }
  const auto& launch = *static_cast<const cupti::LaunchArguments*>(arguments);
  return {number_of(launch.function), launch.stream};
}

}  // namespace

bool expect_launches(std::uint32_t function, const char* name) {
  if (function >= kMaxFunctions) return false;
  launchers[function] = launcher_of(name);
  return launchers[function] != Launcher::kNone;
}

// What is captured into a graph does not run: a trace has no kernel of it either.
void time_launch(std::uint32_t function, const cupti::CallbackData& call) {
  if (function >= kMaxFunctions || launchers[function] == Launcher::kNone || call.arguments == nullptr) return;
  const LaunchedWork work = launched_by(launchers[function], call.arguments);
  if (capture_open() && is_captured(work.stream, has_thread_streams(call.function))) return;
  record_launch(work.what);
}

}  // namespace nl::collector
