#include "collector/counters/counter_trouble.h"

#include "collector/gpu/log.h"

namespace nl::collector {
namespace {

NoteCode code_for(cupti::Result result, const Loss& loss) {
  if (result == cupti::kNoPrivilege) return loss.denied;
  return result == cupti::kHardwareBusy ? loss.busy : loss.failed;
}

// What is wrong, and the fix.
const char* advice_for(cupti::Result result) {
  switch (result) {
    case cupti::kNoPrivilege:
      return "the driver lets only administrators read the counters. Run as root or with CAP_SYS_ADMIN (docker: "
             "--cap-add=SYS_ADMIN), or load the driver with NVreg_RestrictProfilingToAdminUsers=0";
    case cupti::kVirtualisedNoPrivilege:
      return "the hypervisor does not let this machine read the counters; its administrator can allow it";
    case cupti::kHardwareBusy:
      return "another profiler or process holds the counters: DCGM, ncu, or nsys with GPU metrics. Stop it, for DCGM: dcgmi profile "
             "--pause";
    case cupti::kOldProfiler: return "the program uses CUPTI's event API itself";
    case cupti::kVirtualised: return "this virtual GPU has no counters for guests";
    case cupti::kConfidential: return "confidential computing forbids it";
    case cupti::kMig: return "a MIG slice has no such counters here";
    case cupti::kWsl: return "WSL does not offer it";
    default: return nullptr;
  }
}

}  // namespace

void note_trouble(const CuptiLibrary& library, const Loss& loss, const CounterTrouble& trouble) {
  if (const char* advice = advice_for(trouble.result)) return note(code_for(trouble.result, loss), "%s: %s", loss.words, advice);
  note(loss.failed, "%s: %s: %s (%d)", loss.words, trouble.where, words_for(library, trouble.result), trouble.result);
}

}  // namespace nl::collector
