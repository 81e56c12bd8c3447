#pragma once

#include "model/collective_speeds.h"
#include "model/flight_report.h"
#include "model/words.h"

namespace nl {

template <>
inline constexpr auto kKeys<FlightVerdict> =
    std::to_array<std::string_view>({"nothing_waits", "mismatch", "not_called", "circle", "no_dump", "all_called", "unknown"});
template <>
inline constexpr auto kKeys<MismatchKind> = std::to_array<std::string_view>({"kind", "sizes", "types", "order"});
template <>
inline constexpr auto kKeys<CallState> = std::to_array<std::string_view>({"scheduled", "started", "completed"});
template <>
inline constexpr auto kKeys<TimingSource> = std::to_array<std::string_view>({"unknown", "kernel_gpu", "kernel_cpu", "collective_cpu"});

}  // namespace nl
