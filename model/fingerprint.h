#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/time.h"
#include "model/words.h"

// What a run looks like to the GPU: a vector for each of its operators or kernels. docs/fingerprint.md has the formulas.
namespace nl {

// What the items of a fingerprint are.
enum class FingerprintKind : std::uint8_t { kOperators, kKernels };
template <>
inline constexpr auto kKeys<FingerprintKind> = std::to_array<std::string_view>({"operators", "kernels"});

inline constexpr std::array<std::string_view, 6> kFingerprintFeatures = {"lat_norm", "ai", "occ", "warp_eff", "l2_hit", "dram_norm"};
using FingerprintVector = std::array<double, kFingerprintFeatures.size()>;

// As counted; empty: not counted.
struct FingerprintCounters {
  std::optional<double> intensity;        // FLOPs a byte of DRAM traffic
  std::optional<double> occupancy;        // 0..1
  std::optional<double> warp_efficiency;  // 0..1: threads that take part in an instruction, of the warp's 32
  std::optional<double> l2_hit;           // 0..1: sectors found in the L2 cache
  std::optional<double> dram_use;         // 0..1 of the memory's peak
};

struct FingerprintItem {
  std::string signature;    // of type, shape and index: the same in every run; 16 hexadecimal digits
  std::string stage;        // whose step the operator is of; empty: a kernel of the whole capture
  std::string name;         // "aten::mm", a kernel's short name
  std::string type;         // a key of OperatorType; of a kernel what it does: "gemm"
  std::string shape;        // of the operator's inputs; of a kernel its key
  std::uint32_t index = 0;  // among those of its stage, type and shape
  Ns time_ns = 0;
  FingerprintCounters counters;
  FingerprintVector vector = {};  // what is not counted is 0
};

// By feature: whether it has a value.
inline std::array<bool, kFingerprintFeatures.size()> known_features(const FingerprintItem& item, bool ridge) {
  const FingerprintCounters& counted = item.counters;
  return {true,
          ridge && counted.intensity,
          counted.occupancy.has_value(),
          counted.warp_efficiency.has_value(),
          counted.l2_hit.has_value(),
          counted.dram_use.has_value()};
}

struct Fingerprint {
  std::string run_id, hardware, model;
  FingerprintKind kind = FingerprintKind::kKernels;
  std::string peaks;                   // whose: "NVIDIA H200"; empty: not known
  std::optional<double> ridge;         // FLOPs a byte at which the roofline bends
  std::vector<FingerprintItem> items;  // in the order of the step; kernels: most time first
  std::string counters_command = {};   // the command that counts what no item has; empty: counting was just refused,
  std::string counters_refused = {};   // and this is why

  // Which of the features no item has a value for: their counters, or the peaks, are missing. Those are 0 in every vector.
  std::vector<std::size_t> missing_features() const {
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < kFingerprintFeatures.size(); ++i)
      if (std::none_of(items.begin(), items.end(), [&](const FingerprintItem& item) { return known_features(item, ridge.has_value())[i]; }))
        missing.push_back(i);
    return missing;
  }
};

struct FingerprintPair {
  std::size_t a = 0, b = 0;   // among the items of each
  bool by_signature = false;  // else by order
  double cosine = 0;          // of items that only their time describes, the ratio of their times
};

struct FingerprintMatch {
  double similarity = 0;               // 0..1; of a run with itself exactly 1
  std::vector<FingerprintPair> pairs;  // by signature first
  std::size_t only_a = 0, only_b = 0;  // without a partner
};

}  // namespace nl
