#pragma once

#include <filesystem>
#include <vector>

#include "model/efficiency.h"

namespace nl::orchestrator {

// The peaks of the GPUs that conf/device/*.yaml describes, those of `own` (a file or a folder; empty: none)
// first, so that they win. Throws Error(kConfig) with file:line:column.
std::vector<DeviceTableEntry> load_device_table(const std::filesystem::path& own = {});

// One file:
//   name: NVIDIA H200
//   match: ["H200"]
//   dense_tflops: {bf16: 989.4, f32: 67}
//   bandwidth_tb_per_s: 4.8
//   notes: ["…"]
DeviceTableEntry read_device_file(const std::filesystem::path& file);

}  // namespace nl::orchestrator
