#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/codes.h"
#include "orchestrator/process/process.h"

namespace nl::orchestrator {

enum class Retry { kNo, kWider, kSame };  // what is likeliest to work

struct NcuDiagnosis {
  std::optional<Remark> trouble;      // nothing: a report is there
  std::vector<std::string> messages;  // ncu's own ==ERROR== and ==WARNING== lines, without the marks
  bool application_failed = false;    // "The application returned an error code (3)."
  Retry retry = Retry::kNo;
};

// Reads what ncu said in its logs: its exit status is 0 although it measured nothing.
NcuDiagnosis diagnose_ncu(const ProcessResult& result, const std::vector<std::filesystem::path>& logs, bool report_there);

}  // namespace nl::orchestrator
