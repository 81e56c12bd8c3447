#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/codes.h"
#include "model/time.h"
#include "orchestrator/recorder/folders.h"

// A window of a recorder: so many steps of a program that goes on, with the work of its GPUs.
namespace nl::orchestrator {

// When it opens, beside at once: after a step that was slow. "step > 3*median", "step > 50ms".
struct SlowStep {
  double factor = 0;
  Ns longer_than_ns = 0;
};
SlowStep slow_step_of(const std::string& condition);  // Error(kUsage) where it is neither

struct WindowRequest {
  std::uint32_t steps = 20;  // 0: by time only
  Ns most_ns = 0;            // 0: 2 s where there are no steps, 30 s where there are
  bool count_idle = false;   // turns of a loop in which nothing was launched count, too
  std::uint32_t min_batch = 0;
  std::optional<SlowStep> when;
  Ns within_ns = 60'000'000'000;  // so long may it take until it opens
};

// By what the processes opened at the same step: its number in a mark, or that of the collectives before it. kTime: at one time, and whether
// it was one step is not known.
enum class WindowOpening { kMark, kCollective, kTime };
std::string_view words_of(WindowOpening opening);  // "mark", "collective", "time"

struct WindowProcess {
  int pid = 0;
  std::string name;
  bool has_steps = false, cuda = false, gpu = false;  // gpu: its work is recorded
  std::optional<std::int64_t> first_step;             // as the program numbers them
  std::optional<std::int64_t> first_collective;       // so many the process had called before it; empty: steps call none
  std::uint64_t steps = 0, idle_steps = 0, launches = 0;
  std::optional<Ns> opened_ns, closed_ns;  // CLOCK_MONOTONIC; empty: it never opened, or ended before it closed
  std::string trouble;                     // empty: all is well
};

struct Window {
  std::string id;
  std::filesystem::path folder;  // with the files of all processes
  WindowOpening opening = WindowOpening::kTime;
  std::vector<WindowProcess> processes;
  bool stopped = false;  // by the user

  std::vector<std::filesystem::path> files() const;
  std::uint64_t steps() const;     // of the process with the most
  std::uint64_t launches() const;  // of all
};

// What the caller wants to know meanwhile, and whether it is to stop.
struct WindowWatcher {
  std::function<void(const std::string& what)> doing;  // "waiting for a step of at least 8 requests"
  int wake_fd = -1;
  std::function<bool()> stop = [] { return false; };
};

// All processes are armed first; each opens by itself, and none waits for another. Error(kInput) where no process answers, Error(kUsage) where
// a window is open already, Error(kTimeout) where it did not open in time.
Window take_window(const Recorder& recorder, const WindowRequest& request, const WindowWatcher& watcher);

// What has to be said of it besides its numbers.
std::vector<Remark> remarks_on(const Window& window);

std::string window_json(const Window& window, const WindowRequest& request);  // window.json of its folder

}  // namespace nl::orchestrator
