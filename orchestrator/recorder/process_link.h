#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace nl::orchestrator {

enum class RecorderSays { kStatus, kArmed, kMet, kOpened, kClosed, kError, kOther };

// "closed steps=20 launches=400": the word, and its values.
struct RecorderLine {
  RecorderSays says = RecorderSays::kOther;
  bool busy = false;  // an error: another window is open
  std::map<std::string, std::string, std::less<>> values;
  std::string rest;  // behind the word
  std::int64_t number(std::string_view key, std::int64_t otherwise) const;
};
RecorderLine recorder_line(const std::string& text);

// A connection to the recorder in one process.
class ProcessLink {
 public:
  ProcessLink(const std::filesystem::path& folder, int pid);
  ~ProcessLink();
  ProcessLink(ProcessLink&& other) noexcept;
  ProcessLink& operator=(ProcessLink&&) = delete;

  int pid() const { return pid_; }
  int fd() const { return fd_; }  // -1: no process listens, or it has ended
  const std::string& name() const { return name_; }
  void send(const std::string& line);
  // The next line that has come, without waiting.
  std::optional<RecorderLine> next();

 private:
  void close();

  int pid_ = 0, fd_ = -1;
  std::string name_, text_;
};

}  // namespace nl::orchestrator
