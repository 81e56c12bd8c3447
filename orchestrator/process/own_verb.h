#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace nl::orchestrator {

// This same program again, with the words of a verb: for a process that lives on and has many callers. A verb may start processes, and
// run_process() ends every descendant of the process that it is called in; and a verb that crashes ends alone.
struct OwnVerb {
  std::vector<std::string> words;                       // behind "nl-stage"
  std::filesystem::path directory = {};                 // where it runs; empty: ours
  std::filesystem::path program = "/proc/self/exe";     // tests name one
  std::size_t most_bytes = 64 << 20;                    // of standard output; it is ended where it prints more
  std::stop_token stop = {};                            // asked for: it gets SIGINT, and may still print what it has
  double grace_s = 0;                                   // from SIGINT to SIGKILL; 0: as long as it takes
  std::function<void(std::string_view)> progress = {};  // takes what it does now, a line each
};

struct OwnVerbEnd {
  int exit_status = 0;  // 128 + signal where a signal ended it
  bool too_long = false;
  std::string out;
  std::string err;  // the end of it
};

// Returns when it has ended. It gets SIGINT too where we die before it does. May be called by several threads, but not in a process that calls
// run_process() meanwhile. Throws Error(kInternal) where it cannot be started.
OwnVerbEnd run_own_verb(const OwnVerb& verb);

}  // namespace nl::orchestrator
