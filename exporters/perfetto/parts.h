#pragma once

#include <vector>

#include "exporters/perfetto/packets.h"
#include "model/trace.h"

// The parts of write_perfetto().
namespace nl::exporters::perfetto {

struct Window {  // what of the capture is written
  Ns start_ns = 0, end_ns = 0;
  bool cut = false;  // there is more
  bool holds(Ns start, Ns end) const { return !cut || (end >= start_ns && start <= end_ns); }
};

// Around the focus, wide enough for max_events slices and no wider.
Window choose_window(const Trace& trace, const PerfettoOptions& options);

struct Writing {  // what the parts share
  const Trace& trace;
  Packets& packets;
  Window window;
  std::vector<bool> launches;     // of the API calls: those from which an arrow starts
  std::uint64_t max_samples = 0;  // values of sampled metrics; 0: any number
  std::uint64_t crowded = 0;
  Track first_gpu = 0;
  std::uint64_t samples_joined = 1;  // so many became one, their mean
};

void write_threads(Writing& to);                // processes, threads, API calls, ranges, marks
void write_queues(Writing& to);                 // GPUs, their queues and counters
void write_notes(Writing& to, const Run& run);  // iterations, findings
void write_power(Writing& to, const std::vector<PowerSample>& samples);

// No process has such a number: GPUs are shown as processes beside those that were captured.
inline constexpr std::uint32_t kMadeUpPid = 0x7F000000;

}  // namespace nl::exporters::perfetto
