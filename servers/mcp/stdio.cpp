#include "servers/mcp/stdio.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "model/error.h"
#include "orchestrator/process/interrupts.h"
#include "servers/mcp/connection.h"
#include "servers/mcp/line_reader.h"

namespace nl::servers::mcp {
namespace {

// After the end of its input a client may still read: answers that are about to come reach a script that pipes its questions. Clients that end a
// server wait two seconds before they send a signal.
constexpr std::chrono::milliseconds kGrace{1000};

// Standard output, for the protocol alone: the descriptor that all others print to is standard error's meanwhile.
class ProtocolOutput {
 public:
  ProtocolOutput() : fd_(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
    if (fd_ < 0) throw Error(ErrorKind::kOutput, std::string("standard output cannot be used: ") + std::strerror(errno));
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~ProtocolOutput() {
    ::dup2(fd_, STDOUT_FILENO);
    ::close(fd_);
  }
  ProtocolOutput(const ProtocolOutput&) = delete;
  ProtocolOutput& operator=(const ProtocolOutput&) = delete;

  // A client that is gone is noticed by the end of its input.
  void write_line(std::string text) const {
    text += '\n';
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t written = ::write(fd_, text.data() + at, text.size() - at);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;
      at += static_cast<std::size_t>(written);
    }
  }

 private:
  int fd_;
};

// Waits for input or a signal; false: there is nothing to come.
bool wait_for_input() {
  std::array<pollfd, 2> ends = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{orchestrator::Interrupts::wake_fd(), POLLIN, 0}};
  if (::poll(ends.data(), ends.size(), -1) < 0) return errno == EINTR && orchestrator::Interrupts::signal() == 0;
  if (ends[1].revents != 0) orchestrator::Interrupts::drain();
  return orchestrator::Interrupts::signal() == 0;
}

bool has_input() {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) > 0;
}

}  // namespace

int serve_stdio(Server& server, Access access) {
  const orchestrator::Interrupts interrupts;
  const ProtocolOutput output;
  Connection connection(server, access, [&](const ordered_json& message) { output.write_line(text_of(message)); });
  LineReader reader(kMostMessageBytes);
  std::array<char, 65536> buffer{};
  while (wait_for_input()) {
    if (!has_input()) continue;
    const ssize_t size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size <= 0) break;
    for (const LineReader::Line& line : reader.take(buffer.data(), static_cast<std::size_t>(size))) {
      if (line.too_long) connection.refuse_too_long();
      else if (line.text.find_first_not_of(" \t") != std::string::npos) connection.receive(line.text);
    }
  }
  const int signal = orchestrator::Interrupts::signal();
  connection.end(signal == 0 ? kGrace : std::chrono::milliseconds(0));
  server.end_tasks();
  return signal;
}

}  // namespace nl::servers::mcp
