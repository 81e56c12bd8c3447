#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "exporters/perfetto/parts.h"

namespace nl::exporters::perfetto {

// What a GPU did over time, in a few thousand equal steps however long the trace is.
class Counters {
 public:
  explicit Counters(const Window& window);

  void busy(std::int32_t device, Ns start_ns, Ns end_ns);
  void copied(std::int32_t device, MemOpKind kind, Ns end_ns, std::uint64_t bytes);
  void write(Packets& packets, std::int32_t device, Track gpu) const;

 private:
  struct Steps {
    std::vector<Ns> busy_ns;
    std::array<std::vector<std::uint64_t>, 3> bytes;  // to the device, from it, inside it
  };
  Steps& steps(std::int32_t device);
  std::size_t step_at(Ns time_ns) const;
  void write_busy(Packets& packets, const Steps& steps, Track track) const;

  Ns start_ns_, step_ns_;
  std::map<std::int32_t, Steps> devices_;
};

// How many samples become one value, so that all series together stay under max_samples.
std::uint64_t sample_step(const Writing& to);
// A counter for each metric of the series; what was not measured is left out.
void write_series(Writing& to, const MetricSeries& series, Track gpu);

}  // namespace nl::exporters::perfetto
