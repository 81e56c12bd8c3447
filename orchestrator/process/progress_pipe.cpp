#include "orchestrator/process/progress_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string>

#include "model/visible_text.h"

namespace nl::orchestrator {
namespace {

int pipe_fd = -1;

}  // namespace

void take_progress_pipe() {
  const char* named = std::getenv(kProgressVariable);
  if (named == nullptr) return;
  const std::string_view text = named;
  int fd = -1;
  std::from_chars(text.data(), text.data() + text.size(), fd);
  unsetenv(kProgressVariable);
  // Not standard input, output or error, and never waited for: who does not read misses lines.
  if (fd <= STDERR_FILENO || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return;
  pipe_fd = fd;
}

void tell_progress(std::string_view what) {
  if (pipe_fd < 0) return;
  const std::string line = visible_line(what) + "\n";
  [[maybe_unused]] const auto written = write(pipe_fd, line.data(), line.size());
}

}  // namespace nl::orchestrator
