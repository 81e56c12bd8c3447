#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/efficiency.h"
#include "model/run.h"
#include "model/trace.h"

namespace nl::analysis {

// A GPU's name against one of the table's: case, "NVIDIA", "Tesla", "GeForce" and the kind of separator do not
// count, * stands for any characters, and all else must be there: "L4" is not "L40S", nor "H200" a "GH200".
bool device_name_matches(std::string_view name, std::string_view pattern);

// The peaks from the table, else derived from the device's own clock, SMs and memory and marked so. Where neither is
// possible the peaks hold no numbers, and the notes say why. Of several entries that match the first counts.
DevicePeaks device_peaks(const Device& device, const std::vector<DeviceTableEntry>& table);

// The GPU whose peaks count for the run: the first that ran kernels. nullptr: none did, or it is not described.
const Device* working_device(const Run& run);

// Sets dram_pct of the stages' counters and samples, and of the kernels that CUPTI measured with what bounds these, from
// bytes and durations. The peak is that of run.peaks for the GPU that they are of and for its twins, else the device's own;
// where neither is known there is no percentage. A second call changes nothing.
void add_dram_use(const Run& run, std::vector<StageEntry>& stages, std::optional<std::vector<KernelEntry>>& kernels);

}  // namespace nl::analysis
