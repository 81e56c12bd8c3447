#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// Recorders of this user: programs in whose processes the collector records all the time (docs/recorder.md). Each has a folder of its own
// with a socket and a ring of files for each process.
namespace nl::orchestrator {

struct Recorder {
  std::string name;
  std::filesystem::path folder;
  std::vector<int> pids;  // with a socket, in order; whether somebody listens is not known yet
};

// "$XDG_RUNTIME_DIR/nl-stage/recorders", else "/tmp/nl-stage-UID/recorders".
std::filesystem::path recorders_folder();

// A new folder for a recorder, for this user alone. Error(kOutput) where it cannot be made, Error(kUsage) where the name is taken by one that
// runs. What a recorder of that name has left is removed.
std::filesystem::path make_recorder_folder(const std::string& name);

// By name. Folders in which no process lives any more are removed, unless there is a window in them.
std::vector<Recorder> list_recorders();

// By name, folder or pid of any of its processes. Error(kInput) where there is none.
Recorder find_recorder(const std::string& name_or_pid);

}  // namespace nl::orchestrator
