#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace nl::orchestrator {

// Says on a terminal what takes long here, in one line that is rewritten every second and gone at the end:
//   reading run.sqlite … 3 s
// Nothing in the first two seconds, and nothing where stderr is not a terminal. Where several live, the newest is shown. Do not use it
// around code that starts processes: those have their own line.
class Activity {
 public:
  explicit Activity(std::string what);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

 private:
  void show(const std::string& what);

  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::optional<std::thread> thread_;  // none: there is no terminal
};

}  // namespace nl::orchestrator
