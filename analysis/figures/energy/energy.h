#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/staging/staged_trace.h"
#include "model/evidence.h"
#include "model/perturbation.h"
#include "model/stage.h"
#include "model/trace.h"

// Joules of stages, from readings of the GPUs' meters.
namespace nl::analysis {

// The measured windows of a trace's stages in UTC, without warm-up and without tokens; none where the capture has no UTC.
std::vector<StageWindows> stage_windows(const StagedTrace& staged);

// Board energy, idle power included, of all passes together. The counter is interpolated between the
// readings at which it changed; a stage whose windows hold fewer than five of them gets a note, no number.
Energy measure_energy(const std::string& pass, const std::vector<SampledPass>& passes);

// The bits of nvmlClocksEventReasons in words, and those among them that slow the GPU against its will.
inline constexpr std::uint64_t kSlowingReasons = 0x04 | 0x08 | 0x20 | 0x40 | 0x80;
std::string_view throttle_word(std::uint64_t bit);

// The energy that one GPU has used by a moment, from its readings in one pass.
class EnergyCurve {
 public:
  // By the energy counter, or by its power where there is none.
  static EnergyCurve of_counter(const std::vector<PowerSample>& samples, std::int32_t device);
  static EnergyCurve of_power(const std::vector<PowerSample>& samples, std::int32_t device);

  bool empty() const { return points_.size() < 2; }
  bool covers(const UtcWindow& window) const;
  double joules(const UtcWindow& window) const { return at(window.second) - at(window.first); }
  std::uint64_t updates_in(const UtcWindow& window) const;  // readings with a new value

 private:
  struct Point {
    Ns utc_ns = 0;
    double joules = 0;
    bool update = true;
  };
  double at(Ns utc_ns) const;
  std::vector<Point> points_;
};

// Sorts the windows, joins those that overlap and drops empty ones.
std::vector<UtcWindow> united(std::vector<UtcWindow> windows);
bool overlaps(const std::vector<UtcWindow>& united, const UtcWindow& window);

}  // namespace nl::analysis
