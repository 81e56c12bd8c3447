#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runs/orchestrator_names.h"

#include "model/error.h"

namespace nl::runs {

struct QueueEntry {
  int number = 0;         // in the order in which they were added
  std::string command;    // for /bin/sh; one line or many
  std::string directory;  // where it is run
  std::string queued_at;
  int attempts = 0;  // that were begun
};

// A line with the time before it, on stderr and at the end of a log. One write, so that the lines of several processes do not mix.
void append_to_log(const std::filesystem::path& log, const std::string& line);

// Commands that wait for the machine, on disk:
//   queued/000012.json   running/<host>/000011.json   logs/000011-1.log   queue.log
// Every file is written whole, and a move from one folder to the next is a rename, so that any number of processes may add
// while another runs them, and none is lost or run twice whichever of them is killed.
class CommandQueue {
 public:
  // Throws Error(kOutput) where the folder cannot be made.
  explicit CommandQueue(std::filesystem::path folder);

  QueueEntry add(const std::string& command, const std::filesystem::path& directory) const;

  std::optional<QueueEntry> take() const;        // the oldest: it runs now, for one attempt more; nothing: none waits
  void put_back(const QueueEntry& entry) const;  // to be run again, before those that came after it
  void finish(const QueueEntry& entry) const;
  void add_again(const QueueEntry& entry) const;  // under its number, after it was finished
  // Puts back the entries of a runner on this machine that was killed. The caller must hold the machine's lock.
  std::vector<QueueEntry> recover() const;

  bool is_queued(int number) const;
  bool is_empty() const;  // nothing waits; files that are damaged wait, too
  std::vector<QueueEntry> waiting() const;
  std::vector<QueueEntry> running() const;  // on this machine

  std::filesystem::path log_of(const QueueEntry& entry) const;  // of its latest attempt
  void log(const std::string& line) const { append_to_log(log_file(), line); }
  std::filesystem::path log_file() const { return folder_ / "queue.log"; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  void put_aside(int number, const Error& damage) const;  // a file that cannot be read, to damaged/
  std::filesystem::path queued(int number) const;
  std::filesystem::path running(int number) const;

  std::filesystem::path folder_, running_;
};

// $NL_STAGE_QUEUE, or nl-stage/queue in $XDG_STATE_HOME (~/.local/state).
std::filesystem::path default_queue_folder();

// "python train.py (and 3 more lines)": a command on one line of the log.
std::string command_on_one_line(const std::string& command);

}  // namespace nl::runs
