#include "orchestrator/capture/ncu_diagnosis.h"

#include <fmt/format.h>

#include <fstream>

namespace nl::orchestrator {
namespace {

// ==ERROR== ERR_NVGPUCTRPERM - The user does not have permission …
// ==WARNING== No kernels were profiled.
std::vector<std::string> tool_messages(const std::vector<std::filesystem::path>& logs) {
  std::vector<std::string> messages;
  for (const auto& log : logs) {
    std::ifstream file(log);
    for (std::string line; std::getline(file, line) && messages.size() < 200;)
      for (std::string_view mark : {"==ERROR== ", "==WARNING== "})
        if (line.compare(0, mark.size(), mark) == 0) messages.push_back(line.substr(mark.size()));
  }
  return messages;
}

struct Sign {
  std::string_view text;
  Code code;
  Retry retry;
};

constexpr Sign kSigns[] = {
    {"ERR_NVGPUCTRPERM", Code::kCountersDenied, Retry::kNo},
    {"driver resource was unavailable", Code::kCountersBusy, Retry::kSame},
    {"Unable to write to file", Code::kNcuNotWritable, Retry::kNo},
    {"does not exist or is not an executable", Code::kNcuNotStarted, Retry::kNo},
    {"No kernels were profiled", Code::kNcuNoMatch, Retry::kWider},
};

std::vector<std::string> details_of(Code code) {
  if (code == Code::kCountersDenied) return {"ncu"};
  return code == Code::kCountersBusy ? std::vector<std::string>{""} : std::vector<std::string>{};
}

bool mentions(const std::vector<std::string>& messages, std::string_view text, std::string& found) {
  for (const auto& message : messages)
    if (message.find(text) != std::string::npos) {
      found = message;
      return true;
    }
  return false;
}

}  // namespace

NcuDiagnosis diagnose_ncu(const ProcessResult& result, const std::vector<std::filesystem::path>& logs, bool report_there) {
  NcuDiagnosis out;
  out.messages = tool_messages(logs);
  std::string found;
  out.application_failed = mentions(out.messages, "The application returned an error code", found);
  for (const auto& sign : kSigns) {
    // A report that is there wins over "nothing matched", which one of several processes may say.
    if (!mentions(out.messages, sign.text, found) || (report_there && sign.code == Code::kNcuNoMatch)) continue;
    out.trouble = Remark{sign.code, details_of(sign.code)};
    out.retry = sign.retry;
    return out;
  }
  if (report_there) return out;
  if (result.term_signal != 0) {
    out.trouble = Remark{Code::kNcuKilled, {std::to_string(result.term_signal)}};
    out.retry = Retry::kSame;
  } else if (out.application_failed) {
    out.trouble = Remark{Code::kNcuWorkloadFailed, {std::to_string(result.exit_status)}};
  } else {
    const std::string words = out.messages.empty() ? fmt::format("it ended with status {}", result.exit_status) : out.messages.back();
    out.trouble = Remark{Code::kNcuFailed, {words.ends_with('.') ? words.substr(0, words.size() - 1) : words}};
    out.retry = Retry::kSame;
  }
  return out;
}

}  // namespace nl::orchestrator
