#pragma once

#include <sys/types.h>

#include "orchestrator/process/process.h"

namespace nl::orchestrator {

struct StartedProcess {
  pid_t pid = 0;
  int stdout_fd = -1, stderr_fd = -1;  // our ends, non-blocking; the caller closes them
};

// In a process group of its own, with an empty standard input, asked to end should we die.
StartedProcess start_process(const ProcessSpec& spec);

}  // namespace nl::orchestrator
