#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/codes.h"
#include "model/time.h"

// How far a run is from the hardware's limits. FLOPs count a multiply-add as two; peaks are dense.
namespace nl {

struct DevicePeaks {
  std::string name;                           // as matched, "NVIDIA H200"
  std::string source;                         // "conf/device/h200.yaml", or "derived from 132 SMs at 1980 MHz …"
  bool derived = false;                       // not from a table: shown as such wherever it is used
  std::map<std::string, double> flops_per_s;  // by dtype: "bf16", "fp8", "f32" …
  std::optional<double> bytes_per_s;
  std::vector<std::string> notes;
};

// What conf/device/*.yaml says of one GPU.
struct DeviceTableEntry {
  std::string name;                           // "NVIDIA H200"
  std::vector<std::string> match;             // whole names, * for any characters, without "NVIDIA": "H100 80GB HBM3"
  std::map<std::string, double> flops_per_s;  // dense, by dtype
  std::optional<double> bytes_per_s;
  std::vector<std::string> notes;  // where the figures come from, what is to be checked
  std::string file;
};

struct WorkTerm {
  std::string name;     // "attention q·k and p·v"
  std::string formula;  // with the numbers in it: "4·q·d·ΣC·L = 4·16·64·32896·4"
  double flops = 0;
  double bytes = 0;  // read and written, at least
};

struct StageEfficiency {
  std::string stage;
  std::string dtype;                   // whose peak is used
  std::vector<WorkTerm> terms;         // of one window
  std::optional<double> flops, bytes;  // their sums, one window
  std::optional<double> flops_per_s;   // over the mean wall of a window
  std::optional<double> mfu;           // 0..1, over the wall
  std::optional<double> mbu;
  std::optional<double> mfu_busy;  // over the GPU's compute time in the window only
  std::optional<double> mbu_busy;
  std::optional<double> intensity;       // FLOPs a byte
  std::optional<double> ideal_ns;        // the longer of flops ÷ peak and bytes ÷ bandwidth, one window
  std::optional<Bound> limit;            // which of the two: compute or memory
  std::vector<std::string> assumptions;  // "causal attention counted exactly", "weights read once" …
  std::string note;                      // why there is no number, and what would give one
};

struct RooflinePoint {  // one launch that ncu measured
  std::string kernel;
  std::optional<std::string> stage;
  std::uint64_t ncu_id = 0;
  double flops = 0;
  double dram_bytes = 0;
  Ns duration_ns = 0;
  double flops_per_s = 0;
  double intensity = 0;                    // FLOPs a byte of DRAM traffic
  std::string precision;                   // "tensor bf16", "f32", the one with the most FLOPs
  std::optional<double> roof_flops_per_s;  // at this intensity and precision
  std::optional<double> roof_share;        // 0..1
  std::optional<Bound> bound_by;
  std::optional<MemoryLevel> bound_memory;  // as in the sample
  std::optional<double> margin;             // by how many percentage points it is the bound; small: the decision is close
};

struct Roofline {
  std::vector<RooflinePoint> points;
  std::vector<std::string> notes;  // launches without FLOP counts, and the metrics that would give them
};

}  // namespace nl
