#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace nl::cli {

// The flags of `suite` for the queue of this machine.
struct QueueFlags {
  std::string folder, gpu_wait, stall = "10m";
  std::vector<std::string> commands, files;
  bool run = false, status = false, stay = false, forget_failed = false;
  int attempts = 3;
  int retry_failed = 0;
  bool wanted() const { return run || status || forget_failed || !commands.empty() || !files.empty(); }
};

void add_queue_flags(CLI::App& verb, QueueFlags& flags);

// Adds, runs and lists, in this order, as far as each is asked for; returns the exit status.
int queue_verb(const QueueFlags& flags, bool json);

}  // namespace nl::cli
