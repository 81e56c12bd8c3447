#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/perturbation.h"
#include "model/run.h"
#include "model/trace.h"

// A trace in Perfetto's own format, for ui.perfetto.dev and trace_processor: CPU threads with their CUDA calls and
// NVTX ranges, GPU queues, arrows from calls to kernels, counters. docs/trace.md describes what becomes of what.
namespace nl::exporters {

using PerfettoSink = std::function<void(std::string_view)>;

struct PerfettoOptions {
  std::uint64_t max_events = 1'000'000;             // slices; beyond that the trace is cut around the focus. 0: never
                                                    // Of sampled values so many again; beyond that neighbours are joined
  Ns focus_start_ns = 0, focus_end_ns = 0;          // kept first; end 0: the start of the capture
  const Run* run = nullptr;                         // its iterations and findings get tracks of their own
  const std::vector<PowerSample>* power = nullptr;  // NVML's readings, where the trace knows its UTC start
};

struct PerfettoSummary {
  std::uint64_t events = 0;    // slices and instants written
  std::uint64_t left_out = 0;  // by max_events
  std::uint64_t crowded = 0;   // that overlap more others of their track than can be shown
  std::string note;            // in words, where something was left out
};

// Hands the trace to the sink piece by piece; memory does not grow with it but for four bytes an event.
PerfettoSummary write_perfetto(const Trace& trace, const PerfettoSink& sink, const PerfettoOptions& options = {});

// What run.json alone has to show: the lanes of its timeline.
PerfettoSummary write_perfetto(const Timeline& timeline, const PerfettoSink& sink);

// The measured iterations of a run: what a cut keeps first.
void focus_on_measured(const Run& run, PerfettoOptions& options);

}  // namespace nl::exporters
