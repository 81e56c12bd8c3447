#include "orchestrator/process/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "model/error.h"

namespace nl::orchestrator {
namespace {

constexpr std::size_t kTailBytes = 64 * 1024;

bool write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    ssize_t written = write(fd, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace

ProgressLine::ProgressLine(std::string label) : label_(std::move(label)) {
  const char* term = std::getenv("TERM");
  enabled_ = !label_.empty() && isatty(STDERR_FILENO) != 0 && term != nullptr && std::strcmp(term, "dumb") != 0;
}

void ProgressLine::update(double elapsed_s) {
  auto second = static_cast<long>(elapsed_s);
  if (!enabled_ || elapsed_s < 2 || second == last_second_) return;
  erase();
  last_second_ = second;
  std::string line = fmt::format("{}: {} s …", label_, second);
  write_all(STDERR_FILENO, line.data(), line.size());
  shown_ = line.size();
}

// Blanks and carriage returns only: no escape sequences, so NO_COLOR has nothing to forbid.
void ProgressLine::erase() {
  if (shown_ == 0) return;
  std::string blank = "\r" + std::string(shown_, ' ') + "\r";
  write_all(STDERR_FILENO, blank.data(), blank.size());
  shown_ = 0;
}

OutputTee::OutputTee(int source_fd, const std::filesystem::path& log, bool forward)
    : source_fd_(source_fd), forward_(forward), log_(log) {
  if (log.empty()) return;
  log_fd_ = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (log_fd_ < 0) log_error_ = fmt::format("{}: {}", log.string(), std::strerror(errno));
}

OutputTee::~OutputTee() {
  if (source_fd_ >= 0) close(source_fd_);
  if (log_fd_ >= 0) close(log_fd_);
}

void OutputTee::pump(ProgressLine& progress) {
  char buffer[16 * 1024];
  while (source_fd_ >= 0) {
    ssize_t got = ::read(source_fd_, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      close(source_fd_);
      source_fd_ = -1;
      return;
    }
    if (forward_) progress.erase();
    take(buffer, static_cast<std::size_t>(got));
  }
}

void OutputTee::take(const char* data, std::size_t size) {
  if (log_fd_ >= 0 && log_error_.empty() && !write_all(log_fd_, data, size))
    log_error_ = fmt::format("{}: {}", log_.string(), std::strerror(errno));
  if (forward_) write_all(STDERR_FILENO, data, size);
  recent_.append(data, size);
  // Cut in large steps, so that a chatty program does not shift 64 KiB for each line.
  if (recent_.size() > 4 * kTailBytes) recent_.erase(0, recent_.size() - kTailBytes);
}

std::string OutputTee::tail() const {
  return recent_.size() <= kTailBytes ? recent_ : recent_.substr(recent_.size() - kTailBytes);
}

}  // namespace nl::orchestrator
