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
  NcuTrouble trouble;
  std::string_view what, fix;
};

constexpr Sign kSigns[] = {
    {"ERR_NVGPUCTRPERM", NcuTrouble::kPermission, "ncu may not read the GPU's performance counters (ERR_NVGPUCTRPERM)",
     "run as root or with CAP_SYS_ADMIN, or once: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo "
     "tee "
     "/etc/modprobe.d/nvidia-profiling.conf, then reboot"},
    {"driver resource was unavailable", NcuTrouble::kCountersBusy,
     "another profiler holds the GPU's performance counters",
     "end it: `dcgmi profile --pause`, other ncu or nsys --gpu-metrics sessions"},
    {"Unable to write to file", NcuTrouble::kNotWritable, "ncu could not write its report",
     "check the space left and --out"},
    {"does not exist or is not an executable", NcuTrouble::kWorkloadFailed, "ncu could not start the workload",
     "give the workload's full path"},
    {"No kernels were profiled", NcuTrouble::kNothingMatched, "ncu profiled no kernel: none matched its filters",
     "the second run may launch other kernels than the first: fix seeds and shapes; see ncu/cmd.txt for the filters"},
};

bool mentions(const std::vector<std::string>& messages, std::string_view text, std::string& found) {
  for (const auto& message : messages)
    if (message.find(text) != std::string::npos) {
      found = message;
      return true;
    }
  return false;
}

}  // namespace

NcuDiagnosis diagnose_ncu(const ProcessResult& result, const std::vector<std::filesystem::path>& logs,
                          bool report_there) {
  NcuDiagnosis out;
  out.messages = tool_messages(logs);
  std::string found;
  out.application_failed = mentions(out.messages, "The application returned an error code", found);
  for (const auto& sign : kSigns) {
    // A report that is there wins over "nothing matched", which one of several processes may say.
    if (!mentions(out.messages, sign.text, found) || (report_there && sign.trouble == NcuTrouble::kNothingMatched))
      continue;
    out.trouble = sign.trouble;
    out.what = sign.what;
    out.fix = sign.fix;
    out.retry_wider = sign.trouble == NcuTrouble::kNothingMatched;
    out.retry_same = sign.trouble == NcuTrouble::kCountersBusy;
    return out;
  }
  if (report_there) return out;
  out.fix = "see logs/ncu.stdout.log and logs/ncu.stderr.log";
  if (result.term_signal != 0) {
    out.trouble = NcuTrouble::kKilled;
    out.what = fmt::format("ncu was killed by signal {}", result.term_signal);
    out.retry_same = true;
  } else if (out.application_failed) {
    out.trouble = NcuTrouble::kWorkloadFailed;
    out.what =
        fmt::format("the workload failed under ncu (status {}) before a kernel was measured", result.exit_status);
    out.fix = "see logs/ncu.stderr.log; ncu's replay needs more memory and time than the bare run";
  } else {
    out.trouble = NcuTrouble::kOther;
    out.what = out.messages.empty() ? fmt::format("ncu ended with status {} and wrote no report", result.exit_status)
                                    : "ncu wrote no report: " + out.messages.back();
    out.retry_same = true;
  }
  return out;
}

}  // namespace nl::orchestrator
