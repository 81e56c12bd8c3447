#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "orchestrator/machine/gpu_activity.h"
#include "runs/queue/queue.h"

namespace nl::runs {

struct QueueOptions {
  double gpu_wait_s = -1;      // for an idle GPU; negative: as long as it takes, 0: not at all
  double stall_s = 600;        // without output, processor or GPU time: the run is ended; 0: never
  int attempts = 3;            // of a run that was disturbed, or whose runner was killed
  int retry_failed = 0;        // queue what fails again, until it has failed so often and once more; also what failed before
  bool stay = false;           // and wait for further entries when the queue is empty
  double look_s = 1;           // between two looks at the GPU and the run; NVML takes some milliseconds
  std::filesystem::path lock;  // machine_lock_file()
};

enum class EntryOutcome { kOk, kFailed, kStalled, kOverlapped, kGivenUp, kInterrupted };

struct EntryRecord {  // one attempt
  QueueEntry entry;
  EntryOutcome outcome = EntryOutcome::kOk;
  int exit_status = 0;
  double seconds = 0;
  std::filesystem::path log;
  std::string detail;  // "shared the GPU with 4711 python"
  bool queued_again = false;
};

struct QueueResult {
  std::vector<EntryRecord> attempts;
  bool gpu_stayed_busy = false;  // gpu_wait_s was over
  int interrupt_signal = 0;
  bool all_ok() const;
};

std::string_view outcome_name(EntryOutcome outcome);  // "ok", "failed", "stalled" …

// Takes the machine's lock, waiting for it, and runs entries until none is left; those that are added meanwhile too. Each one
// begins when the GPU is idle. START and END lines go to queue.log and stderr. `gpu` may be null: it is not watched then.
QueueResult run_queue(const CommandQueue& queue, const QueueOptions& options, GpuActivity* gpu);

}  // namespace nl::runs
