#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/staging/windows.h"
#include "model/stage.h"
#include "model/trace.h"

namespace nl::analysis {

// By window: it is measured and takes more than kSlowWindow times the median of its stage's measured windows. None where a stage
// has less than kEnoughWindows: one of three is no exception.
inline constexpr double kSlowWindow = 1.5;
inline constexpr std::size_t kEnoughWindows = 8;
std::vector<bool> slow_windows(const std::vector<Window>& windows, std::size_t stages);

// Those of each stage, without their budget. Nothing where there are none.
std::vector<std::optional<SlowWindows>> told_slow_windows(const Trace& trace, const std::vector<Window>& windows,
                                                          const std::vector<bool>& slow, std::size_t stages);

}  // namespace nl::analysis
