#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runs/suite/run_suite.h"

// What a suite has done so far, in progress.json of its folder: --resume goes on from there after Ctrl-C, a crash or a power cut.
namespace nl::runs {

class SuiteProgress {
 public:
  // Of a new suite.
  explicit SuiteProgress(std::filesystem::path out, std::vector<std::string> sets) : out_(std::move(out)), sets_(std::move(sets)) {}

  // As the request wants it: of a new suite, or of the one in that folder.
  static SuiteProgress of(const SuiteRequest& request, const std::filesystem::path& out);

  // Of the one in that folder. Throws Error(kInput) where there is none, or it is of another suite.
  static SuiteProgress read(std::filesystem::path out, const Suite& suite, std::vector<std::string> sets);

  // The run of the task that ended well before, where its target is still the same and its bundle can be read.
  std::optional<TaskRecord> finished(const Suite& suite, const SuiteTask& task) const;

  // Written at once: the next moment may be the last.
  void note(const Suite& suite, const TaskRecord& record);

  struct Entry {
    std::string target, digest;
    int repetition = 0;
    bool profiled = false;
    std::int64_t size = 0;
    std::string outcome, bundle, reason;  // the bundle below the folder of the suite
    int attempts = 1;
  };
  struct Document {
    int version = 1;
    std::string suite;
    std::vector<Entry> runs;
  };

 private:
  std::filesystem::path out_;
  std::vector<std::string> sets_;  // of the command line
  Document document_;
};

}  // namespace nl::runs
