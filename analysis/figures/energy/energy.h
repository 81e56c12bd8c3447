#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/staging/iterations.h"
#include "model/perturbation.h"
#include "model/stage.h"
#include "model/trace.h"

// Joules of stages, from readings of the GPUs' meters.
namespace nl::analysis {

using UtcWindow = std::pair<Ns, Ns>;  // from, to, since the epoch

struct StageWindows {
  std::string stage;
  std::vector<UtcWindow> utc_ns;
  std::optional<double> tokens_per_window;
};

struct SampledPass {
  std::vector<PowerSample> samples;
  std::vector<StageWindows> stages;
};

// The measured windows of a trace's stages in UTC, without warm-up; none where the capture knows no UTC.
// The stages tell the tokens.
std::vector<StageWindows> stage_windows(const Trace& trace, const WarmupRule& warmup, const std::vector<StageEntry>& stages);

// Board energy, idle power included, of all passes together. The counter is interpolated between the
// readings at which it changed; a stage whose windows hold fewer than five of them gets a note, no number.
Energy measure_energy(const std::string& pass, const std::vector<SampledPass>& passes);

// The bits of nvmlClocksEventReasons in words, and those among them that slow the GPU against its will.
inline constexpr std::uint64_t kSlowingReasons = 0x04 | 0x08 | 0x20 | 0x40 | 0x80;
std::string_view throttle_word(std::uint64_t bit);

}  // namespace nl::analysis
