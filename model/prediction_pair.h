#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Predictions beside what came of them, both as ratios: what a stage takes after a change, of what it took before.
namespace nl {

// Where predictions come from, and how far their intervals reach.
struct PredictionOrigin {
  std::string hardware;       // hardware_key() of the capture; empty: not known
  std::string tracer;         // "nsys", "collector"; empty: not known
  double interval_scale = 1;  // of the intervals; 1: as they are shipped
  std::uint64_t pairs = 0;    // that the scale rests on
};

struct PredictionPair {
  std::string recorded_at;              // RFC 3339, UTC, whole seconds
  std::string hardware;                 // hardware_key()
  std::string workload, workload_text;  // identity_key() and identity_text() of side A; empty: not known
  std::string stage;
  std::string changes;  // "--graph decode_step --pinned"
  std::string kind;     // the flag of the change, "graph"; kSeveralChanges where there are more
  std::string tracer;   // of the capture; empty: not known
  double interval_scale = 1;
  double predicted_ratio = 1, low_ratio = 1, high_ratio = 1;
  double measured_ratio = 1;
  std::optional<double> measured_low_ratio, measured_high_ratio;  // empty: too few rounds

  double error() const { return measured_ratio / predicted_ratio - 1; }
  bool within() const { return low_ratio <= measured_ratio && measured_ratio <= high_ratio; }
};

inline constexpr const char* kSeveralChanges = "several";

// "--graph decode_step" → "graph"
inline std::string kind_of_changes(const std::vector<std::string>& changes) {
  if (changes.size() != 1) return kSeveralChanges;
  const std::string flag = changes.front().substr(0, changes.front().find(' '));
  return flag.substr(std::min(flag.size(), flag.find_first_not_of('-')));
}

// How good predictions were.
struct PairFigures {
  std::uint64_t pairs = 0, within = 0;
  double median_error = 0;  // of the errors without their signs
};

struct PairsOfKind {
  std::string kind;
  PairFigures figures;
};

// All pairs of one hardware.
struct PredictionRecord {
  std::string hardware;               // empty: not known
  std::vector<PredictionPair> pairs;  // oldest first
  PairFigures figures;
  std::vector<PairsOfKind> kinds;  // by their names
  double interval_scale = 1;       // by these pairs
};

}  // namespace nl
