#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "orchestrator/process/process.h"

namespace nl::orchestrator {

enum class NcuTrouble {
  kNone,            // a report is there
  kNothingMatched,  // "No kernels were profiled."
  kPermission,      // ERR_NVGPUCTRPERM
  kCountersBusy,    // another profiler or DCGM holds them
  kNotWritable,     // its report could not be written
  kWorkloadFailed,  // and no report
  kKilled,          // ncu itself, by a signal
  kOther,
};

struct NcuDiagnosis {
  NcuTrouble trouble = NcuTrouble::kNone;
  std::string what, fix;                        // for the problem list
  std::vector<std::string> messages;             // ncu's own ==ERROR== and ==WARNING== lines, without the marks
  bool application_failed = false;               // "The application returned an error code (3)."
  bool retry_wider = false, retry_same = false;  // what is likeliest to work
};

// Reads what ncu said in its logs: its exit status is 0 although it measured nothing.
NcuDiagnosis diagnose_ncu(const ProcessResult& result, const std::vector<std::filesystem::path>& logs,
                          bool report_there);

}  // namespace nl::orchestrator
