#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>

#include "orchestrator/recorder/folders.h"
#include "orchestrator/recorder/window.h"
#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

// A real program that records, and what its windows have.
namespace nl::test {

namespace fs = std::filesystem;
using namespace nl::orchestrator;
using std::chrono::milliseconds;

inline constexpr const char* kCollector = NL_BUILD_ROOT "/collector/libnl_collector.so";
inline constexpr const char* kFakeCupti = NL_BUILD_ROOT "/tests/unit/collector/libfake_cupti.so";
inline constexpr const char* kProgram = NL_BUILD_ROOT "/tests/unit/orchestrator/recorder/recorded_program";

using Variables = std::map<std::string, std::string>;

template <typename Done>
bool within(milliseconds time, Done done) {
  for (const auto end = std::chrono::steady_clock::now() + time; !done(); std::this_thread::sleep_for(milliseconds(5)))
    if (std::chrono::steady_clock::now() > end) return false;
  return true;
}

// A recorded program, and the folder of its recorder.
class Recorded {
 public:
  // `before`: what a shell does before the program takes its place.
  explicit Recorded(const std::string& words, const Variables& more = {}, bool wait = true, const std::string& before = {})
      : before_(before) {
    std::string name = (fs::temp_directory_path() / "nl-recorder-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder_ = name;
    Variables variables = {{"NL_STAGE_RECORD", "1"},
                           {"NL_STAGE_RECORD_DIR", folder().string()},
                           {"NVTX_INJECTION64_PATH", kCollector},
                           {"CUDA_INJECTION64_PATH", kCollector},
                           {"FAKE_CUPTI", kFakeCupti},
                           {"NL_STAGE_CUPTI", kFakeCupti}};
    for (const auto& [key, value] : more) variables[key] = value;
    pid_ = fork();
    if (pid_ == 0) start(words, variables);
    REQUIRE(pid_ > 0);
    if (wait) REQUIRE(within(milliseconds(20'000), [&] { return out().find("ready") != std::string::npos && fs::exists(socket()); }));
  }
  ~Recorded() {
    end(SIGKILL);
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  fs::path folder() const { return folder_ / "recorder"; }
  fs::path socket() const { return folder() / fmt::format("{}.sock", pid_); }
  pid_t pid() const { return pid_; }
  std::string out() const { return read_text(folder_ / "out"); }
  std::string err() const { return read_text(folder_ / "err"); }
  Recorder recorder() const { return find_recorder(folder().string()); }
  int end(int signal) {
    if (pid_ <= 0) return -1;
    if (signal != 0) kill(pid_, signal);
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }
  std::vector<fs::path> ring() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder()))
      if (entry.path().extension() == ".nltrace") files.push_back(entry.path());
    return files;
  }

 private:
  [[noreturn]] void start(const std::string& words, const Variables& variables) {
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    dup2(open((folder_ / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    dup2(open((folder_ / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    const std::string command = fmt::format("{}exec {} {}", before_, kProgram, words);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }

  std::string before_;
  fs::path folder_;
  pid_t pid_ = 0;
};

inline Window window_of(const Recorded& program, const WindowRequest& request = {}) { return take_window(program.recorder(), request, {}); }

inline WindowRequest of_steps(std::uint32_t steps) {
  WindowRequest request;
  request.steps = steps;
  return request;
}

inline const WindowProcess& process(const Window& window, int pid) {
  const auto found = std::find_if(window.processes.begin(), window.processes.end(), [&](const auto& each) { return each.pid == pid; });
  REQUIRE(found != window.processes.end());
  return *found;
}

// Ranges whose name begins so, between two times of CLOCK_MONOTONIC.
inline std::size_t ranges_between(const Trace& trace, std::string_view begins, Ns from_ns, Ns to_ns) {
  return static_cast<std::size_t>(std::count_if(trace.ranges.begin(), trace.ranges.end(), [&](const Range& range) {
    const Ns start_ns = range.start_ns + *trace.monotonic_start_ns;
    return trace.strings[range.name].starts_with(begins) && start_ns >= from_ns && start_ns < to_ns;
  }));
}

// Of one process, from the beginning of its window to the end.
inline std::size_t steps_of(const Trace& trace, const WindowProcess& process) {
  return static_cast<std::size_t>(std::count_if(trace.ranges.begin(), trace.ranges.end(), [&](const Range& range) {
    const Ns start_ns = range.start_ns + *trace.monotonic_start_ns;
    return trace.processes[trace.threads[range.thread].process].pid == static_cast<std::uint32_t>(process.pid) &&
           trace.strings[range.name].starts_with("execute_") && start_ns >= *process.opened_ns && start_ns < *process.closed_ns;
  }));
}

inline std::set<std::string> step_marks(const Trace& trace) {
  std::set<std::string> texts;
  for (const Mark& mark : trace.marks)
    if (trace.strings[mark.name].starts_with("step index=")) texts.insert(trace.strings[mark.name]);
  return texts;
}

}  // namespace nl::test
