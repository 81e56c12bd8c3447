#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "exporters/perfetto/packets.h"
#include "model/trace.h"

// The parts of write_perfetto().
namespace nl::exporters::perfetto {

struct Window {  // which part of the capture is written
  Ns start_ns = 0, end_ns = 0;
  bool cut = false;  // there is more
  bool holds(Ns start, Ns end) const { return !cut || (end >= start_ns && start <= end_ns); }
};

struct Writing {  // what the parts share
  const Trace& trace;
  Packets& packets;
  Window window;
  std::vector<bool> launches;     // of the API calls: those from which an arrow starts
  std::uint64_t max_samples = 0;  // values of sampled metrics; 0: any number
  std::uint64_t crowded = 0;
  std::uint64_t samples_joined = 1;  // so many became one, their mean
};

void write_threads(Writing& to);  // processes, threads, API calls, ranges, marks
void write_queues(Writing& to);   // GPUs, their queues and counters
void write_power(Writing& to, const std::vector<PowerSample>& samples);

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

// No process has such a number: GPUs are shown as processes beside those that were captured.
inline constexpr std::uint32_t kMadeUpPid = 0x7F000000;

}  // namespace nl::exporters::perfetto
