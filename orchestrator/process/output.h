#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace nl::orchestrator {

// One line on the terminal that is rewritten in place: "[2/5] nsys trace … 26 s of about 60 s". Nothing in the first two
// seconds, and nothing where stderr is not a terminal.
class ProgressLine {
 public:
  static bool possible();  // stderr is a terminal that can rewrite a line

  explicit ProgressLine(std::string label, double expected_s = 0);
  ~ProgressLine() { erase(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void update(double elapsed_s);
  void add(const std::string& words);  // behind the label
  void erase();
  void finish(double elapsed_s);  // leaves the line with what it took, if there was one

 private:
  void write(const std::string& line);

  std::string label_;
  double expected_s_ = 0;
  bool enabled_ = false;
  std::size_t shown_ = 0;
  long last_second_ = -1;
};

// Takes out of an output what nsys and ncu say themselves ("Generating '/tmp/nsys-report-c87b.qdstrm'"), and leaves what the
// workload prints, also a line that has no end yet: a streaming program writes token by token.
class ToolChatter {
 public:
  std::string without(std::string_view data);  // what is to be shown of it; the beginning of a line may be held back
  std::string rest();                          // what was held back, at the end of the output

 private:
  enum class Line { kUndecided, kShown, kHidden };

  void decide();
  void end_line(std::string& shown);

  std::string held_;  // the beginning of a line that is not decided
  Line line_ = Line::kUndecided;
  bool lists_files_ = false;  // the lines after "Generated:", which are indented
};

enum class Forward { kNothing, kWithoutChatter, kAll };

// One output stream of a child: into its log as it comes, its tail into memory, and on to our stderr.
class OutputTee {
 public:
  OutputTee(int source_fd, const std::filesystem::path& log, Forward forward);
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
  void end();

  int source_fd_ = -1, log_fd_ = -1;
  Forward forward_ = Forward::kNothing;
  ToolChatter chatter_;
  std::filesystem::path log_;
  std::string recent_, log_error_;
};

}  // namespace nl::orchestrator
