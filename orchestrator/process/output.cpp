#include "orchestrator/process/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "model/visible_text.h"
#include "orchestrator/process/progress_pipe.h"

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

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

constexpr std::string_view kGenerated = "Generated:";

// How lines of nsys 2022 to 2026 and of ncu begin. A line that is not known is shown.
constexpr std::array<std::string_view, 13> kBeginnings = {"Collecting data...",
                                                          "Processing events...",
                                                          "Generating '/",
                                                          kGenerated,
                                                          "Saving temporary \"",
                                                          "Creating final output files...",
                                                          "Saved report file to \"",
                                                          "Report file moved to \"",
                                                          "Capturing symbol files...",
                                                          "Processing [",
                                                          "Exporting [",
                                                          "==PROF== ",
                                                          "==WARNING== "};

// "[3/8] [=====   62%] run.sqlite": what nsys makes of the capture
bool is_bar(std::string_view line) {
  const std::size_t close = line.find("] [");
  return line.starts_with('[') && close != std::string_view::npos &&
         line.substr(1, close - 1).find_first_not_of("0123456789/") == std::string_view::npos;
}

bool may_become_bar(std::string_view line) {
  return line.starts_with('[') && line.substr(1).find_first_not_of("0123456789/] [") == std::string_view::npos;
}

bool is_chatter(std::string_view line) {
  return is_bar(line) ||
         std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](std::string_view known) { return line.starts_with(known); });
}

bool may_become_chatter(std::string_view line) {
  return line.empty() || may_become_bar(line) ||
         std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](std::string_view known) { return known.starts_with(line); });
}

bool is_indented(std::string_view line) { return line.starts_with('\t') || line.starts_with("    "); }

}  // namespace

bool ProgressLine::possible() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && term != nullptr && std::strcmp(term, "dumb") != 0;
}

ProgressLine::ProgressLine(std::string label, double expected_s)
    : label_(std::move(label)), expected_s_(expected_s), enabled_(!label_.empty() && possible()) {
  if (!label_.empty()) tell_progress(label_);
}

void ProgressLine::update(double elapsed_s) {
  auto second = static_cast<long>(elapsed_s);
  if (!enabled_ || elapsed_s < 2 || second == last_second_) return;
  erase();
  last_second_ = second;
  write(fmt::format("{} … {} s{}", label_, second, expected_s_ > 0 ? fmt::format(" of about {:.0f} s", std::ceil(expected_s_)) : ""));
}

void ProgressLine::finish(double elapsed_s) {
  if (last_second_ < 0) return;
  erase();
  write(fmt::format("{}: {:.0f} s", label_, elapsed_s));
  write_all(STDERR_FILENO, "\n", 1);
  shown_ = 0;
}

// In one line of the terminal: what wraps cannot be rewritten.
void ProgressLine::write(const std::string& line) {
  const std::string shown = cut_to(visible_line(line), terminal_width() - 1);
  write_all(STDERR_FILENO, shown.data(), shown.size());
  shown_ = columns_of(shown);
}

// Blanks and carriage returns only: no escape sequences, so NO_COLOR has nothing to forbid.
void ProgressLine::add(const std::string& words) {
  label_ += (label_.empty() ? "" : ", ") + words;
  last_second_ = -1;
}

void ProgressLine::erase() {
  if (shown_ == 0) return;
  std::string blank = "\r" + std::string(shown_, ' ') + "\r";
  write_all(STDERR_FILENO, blank.data(), blank.size());
  shown_ = 0;
}

OutputTee::OutputTee(int source_fd, const std::filesystem::path& log, Forward forward)
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
      end();
      return;
    }
    if (forward_ != Forward::kNothing) progress.erase();
    take(buffer, static_cast<std::size_t>(got));
  }
}

void OutputTee::end() {
  close(source_fd_);
  source_fd_ = -1;
  const std::string rest = chatter_.rest();
  write_all(STDERR_FILENO, rest.data(), rest.size());
}

void OutputTee::take(const char* data, std::size_t size) {
  if (log_fd_ >= 0 && log_error_.empty() && !write_all(log_fd_, data, size))
    log_error_ = fmt::format("{}: {}", log_.string(), std::strerror(errno));
  if (forward_ == Forward::kAll) write_all(STDERR_FILENO, data, size);
  if (forward_ == Forward::kWithoutChatter) {
    const std::string shown = chatter_.without({data, size});
    write_all(STDERR_FILENO, shown.data(), shown.size());
  }
  recent_.append(data, size);
  // Cut in large steps, so that a chatty program does not shift 64 KiB for each line.
  if (recent_.size() > 4 * kTailBytes) recent_.erase(0, recent_.size() - kTailBytes);
}

std::string OutputTee::tail() const { return recent_.size() <= kTailBytes ? recent_ : recent_.substr(recent_.size() - kTailBytes); }

std::string ToolChatter::without(std::string_view data) {
  std::string shown;
  for (const char c : data) {
    if (line_ == Line::kShown) shown += c;
    else if (line_ == Line::kUndecided) held_ += c;
    if (c == '\n' || c == '\r') {
      end_line(shown);
    } else if (line_ == Line::kUndecided) {
      decide();
      if (line_ == Line::kShown) shown += std::exchange(held_, {});
    }
  }
  return shown;
}

void ToolChatter::decide() {
  if (lists_files_ && is_indented(held_)) line_ = Line::kHidden;
  else if (lists_files_ && std::string_view("    ").starts_with(held_)) return;
  else if (is_chatter(held_)) line_ = Line::kHidden;
  else if (!may_become_chatter(held_)) line_ = Line::kShown;
  if (line_ == Line::kShown) lists_files_ = false;
  if (line_ == Line::kHidden && held_.starts_with(kGenerated)) lists_files_ = true;
}

void ToolChatter::end_line(std::string& shown) {
  if (line_ == Line::kUndecided) shown += held_;  // a whole line that only begins as chatter does
  held_.clear();
  line_ = Line::kUndecided;
}

std::string ToolChatter::rest() { return std::exchange(held_, {}); }

}  // namespace nl::orchestrator
