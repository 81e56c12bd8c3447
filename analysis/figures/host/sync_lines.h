#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/figures/host/host_work.h"
#include "analysis/staging/windows.h"
#include "model/trace.h"

namespace nl::analysis {

// Samples inside CUDA calls that wait for the GPU, in the measured windows of their thread, by the line that makes the call.
class SyncSamples {
 public:
  SyncSamples(const Trace& trace, const std::vector<Window>& windows, const HostWorks& works, std::size_t stages);
  // Most samples first. `sync_call_ns`: the stage's time inside such calls.
  std::vector<SyncLine> lines_of(std::size_t stage, Ns sync_call_ns) const;

 private:
  const Trace& trace_;
  std::vector<std::map<std::uint32_t, std::uint64_t>> frames_;  // by stage: samples of each
};

}  // namespace nl::analysis
