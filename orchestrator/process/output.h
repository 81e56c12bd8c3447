#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace nl::orchestrator {

// One line on the terminal that is rewritten in place: "nsys: 12 s". Nothing where stderr is no terminal.
class ProgressLine {
 public:
  explicit ProgressLine(std::string label);
  ~ProgressLine() { erase(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void update(double elapsed_s);
  void erase();

 private:
  std::string label_;
  bool enabled_ = false;
  std::size_t shown_ = 0;
  long last_second_ = -1;
};

// One output stream of a child: into its log as it comes, its tail into memory, and on to our stderr.
class OutputTee {
 public:
  OutputTee(int source_fd, const std::filesystem::path& log, bool forward);
  ~OutputTee();
  OutputTee(const OutputTee&) = delete;
  OutputTee& operator=(const OutputTee&) = delete;

  void pump(ProgressLine& progress);  // everything that is there now
  bool open() const { return source_fd_ >= 0; }
  int fd() const { return source_fd_; }
  std::string tail() const;
  const std::string& log_error() const { return log_error_; }

 private:
  void take(const char* data, std::size_t size);

  int source_fd_ = -1, log_fd_ = -1;
  bool forward_ = false;
  std::filesystem::path log_;
  std::string recent_, log_error_;
};

}  // namespace nl::orchestrator
