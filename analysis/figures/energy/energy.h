#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

}  // namespace nl::analysis
