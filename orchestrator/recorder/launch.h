#pragma once

#include <map>
#include <string>
#include <vector>

#include "orchestrator/config/config.h"

// Starts a program with a recorder in all of its processes.
namespace nl::orchestrator {

struct RecorderSettings {
  std::string name;  // empty: after the program
  unsigned seconds = 30, megabytes = 64;
  std::vector<std::string> steps;  // names of the ranges that are steps, "execute_*"; empty: the usual ones
  bool attach = false;             // to CUPTI from the start
  std::string signal;              // "USR2": takes a window, too
};

struct RecorderLaunch {
  std::string name;
  std::map<std::string, std::string> variables;  // of the program's environment
};

// Makes the folder of the recorder. Error(kTool) where there is no collector.
RecorderLaunch prepare_recorder(const RecorderSettings& settings, const Config& config, const std::vector<std::string>& command);

// In place of this process: what started us has the program, its exit status and its signals. Returns only by an Error(kWorkload).
[[noreturn]] void become(const std::vector<std::string>& command, const RecorderLaunch& launch);

}  // namespace nl::orchestrator
