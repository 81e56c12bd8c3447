#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runs/queue/run_queue.h"

// What the queue remembers of commands that failed: failed/000011.json, until the command ends well or is forgotten.
namespace nl::runs {

struct QueueFailure {
  QueueEntry entry;
  int failures = 0;  // how often it failed
  std::string outcome, failed_at;
  int exit_status = 0;
  std::string error;  // the last line of its output, or why it was ended
  std::string log;    // of the latest attempt
};

class QueueFailures {
 public:
  explicit QueueFailures(const CommandQueue& queue) : folder_(queue.folder() / "failed") {}

  std::vector<QueueFailure> list() const;  // by number; damaged files are left out
  std::optional<QueueFailure> of(int number) const;

  void remember(const EntryRecord& record) const;
  void forget(int number) const;
  std::size_t forget_all() const;

 private:
  std::filesystem::path file_of(int number) const;
  std::filesystem::path folder_;
};

}  // namespace nl::runs
