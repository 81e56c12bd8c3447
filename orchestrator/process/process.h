#pragma once

#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/error.h"
#include "model/ranks.h"
#include "model/time.h"
#include "orchestrator/sampling/stack_sampler.h"

namespace nl::orchestrator {

struct ProcessSpec {
  std::vector<std::string> argv;           // argv[0]: a path, or a name looked up in PATH
  std::map<std::string, std::string> env;  // set on top of our own environment
  std::vector<std::string> unset_env;
  std::map<std::string, std::string> prepend_env;  // before what the variable has, with a colon between: PYTHONPATH
  std::filesystem::path working_directory;         // empty: ours
  std::filesystem::path stdout_log, stderr_log;    // teed here; empty: not kept
  bool forward_output = false;                     // also to our own stderr
  bool hide_chatter = false;                       // of that, not what nsys and ncu say themselves
  double timeout_s = 0;                            // 0: none
  double grace_s = 15;                             // between the polite signal and SIGKILL
  int polite_signal = SIGINT;                      // asks argv[0] to end; nsys and ncu write their report then
  bool signal_group = false;                       // the polite signal goes to all of its process group, as a terminal's
  bool wait_for_tree = false;                      // descendants may outlive argv[0]; else they are ended with it
  double leftover_s = 30;                          // of wait_for_tree: descendants that do nothing for so long are ended
  bool profiler = false;                           // nsys or ncu: past the grace its target is ended first, and it
                                                   // gets as long again to write the report
  std::function<bool()> enough = {};               // asked a few times a second; true: argv[0] is asked to end, as after the timeout
  ErrorKind not_found = ErrorKind::kWorkload;      // kTool where argv[0] is one of the profilers
  std::string label;                               // of the progress line; empty: none is shown
  double expected_s = 0;                           // how long it may take, for that line; 0: not known
  // Called once where a signal that we did not send ended argv[0] while its descendants live on: the last
  // chance to save what they hold. May itself call run_process().
  std::function<void(int pid)> on_orphaned;
  sampling::SamplingRequest sample_stacks = {};  // of native code, while it runs
  bool note_ranks = false;                       // that launchers tell its processes
};

struct ProcessResult {
  int exit_status = 0;  // 128 + signal where a signal ended it
  int term_signal = 0;  // that ended argv[0] itself; 0: it exited
  bool timed_out = false;
  bool had_enough = false;   // spec.enough said so
  bool interrupted = false;  // by our own SIGINT or SIGTERM
  int interrupt_signal = 0;
  Ns duration_ns = 0;
  std::string stdout_text, stderr_text;       // the last 64 KiB of each
  std::vector<std::string> leftovers_killed;  // "4711 worker": outlived argv[0] and had to be ended
  std::string log_error;                      // why a log is cut short: the disk is full
  sampling::SampledStacks stacks = {};        // that spec.sample_stacks asked for
  std::map<pid_t, RankFacts> ranks = {};      // that spec.note_ranks asked for
};

// Runs a process and everything it starts, and leaves none of them behind: our SIGINT and SIGTERM, a
// timeout, or the death of argv[0] end the whole tree, re-parented descendants included (subreaper).
// argv[0] gets the polite signal first (then a profiler's target SIGKILL), then the tree SIGTERM, then
// SIGKILL; a second Ctrl-C skips the wait between. Standard input is empty. One process at a time, from one thread.
// Throws Error(spec.not_found) when argv[0] cannot be started.
ProcessResult run_process(const ProcessSpec& spec);

std::map<std::string, std::string> own_environment();

bool is_executable_file(const std::filesystem::path& path);

// Where argv[0] would be found: a path as it stands (relative to `directory`), a name along `search_path`
// (empty: our PATH). Throws Error(kind) where there is no such program.
std::filesystem::path find_executable(const std::string& name, const std::filesystem::path& directory = {},
                                      ErrorKind kind = ErrorKind::kWorkload, const std::string& search_path = {});

}  // namespace nl::orchestrator
