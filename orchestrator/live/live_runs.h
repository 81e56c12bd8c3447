#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

// The runs that go on now. Each leaves a small file in a private folder while its process works, so that another process of the same user
// (`nl-stage serve`) can list and stop it. Nothing depends on a reader, and no failure here ends a run.
namespace nl::orchestrator {

struct LiveRun {
  int pid = 0;
  std::uint64_t started_ticks = 0;  // of the process, since the machine started: a later process of the same pid has others
  std::string run_id, name, bundle;
  std::string since;     // RFC 3339, UTC
  std::string progress;  // "[2/5] nsys trace"
};

// Writes the file, renews it and removes it at the end.
class LiveNote {
 public:
  LiveNote(std::string run_id, std::string name, const std::filesystem::path& bundle);
  ~LiveNote();
  LiveNote(const LiveNote&) = delete;
  LiveNote& operator=(const LiveNote&) = delete;

  void say(const std::string& progress);  // what is done from now on

 private:
  LiveRun run_;
  std::filesystem::path file_;  // empty: there is no place for it
};

// Where runs of this user leave their files: $XDG_RUNTIME_DIR/nl-stage/live, else nl-stage/live of the user's data. The first is written to, all
// are read: a server of systemd has other variables than a shell.
std::vector<std::filesystem::path> live_folders();

// The oldest first. Files of processes that are gone are removed.
std::vector<LiveRun> live_runs();

// Asks the run to end, as Ctrl-C does: it keeps what it has captured. False where there is no such run any more.
bool stop_live_run(const std::string& run_id);

}  // namespace nl::orchestrator
