#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "model/trace.h"

// Stacks that nvtx/python/auto or orchestrator/sampling samples while a workload is traced, stacks-<pid>.txt, and what becomes of them in
// the trace:
//
//   f, k, s    HostSamples::frames, stacks, samples
//   g          HostSamples::collections
//   c          HostSamples::lost and cost_share
//
// Their times are CLOCK_MONOTONIC. Marks of the domain LLM.clock say what that clock showed when; the collector's traces know it without.
// Where neither does, a process cannot be placed in the trace, and is left out.
namespace nl::parsers {

inline constexpr std::string_view kStacksMagic = "nl-stage stacks\t1\n";

// The stack files of a folder, in the order of their names.
std::vector<std::filesystem::path> stack_files(const std::filesystem::path& folder);

// Fills Trace::host, and takes the marks of the clock out of the trace: they do not belong to the workload.
void join_stacks(const std::vector<std::filesystem::path>& files, Trace& trace);

// For every reader of stacks. Puts samples and collections into the order of time, and finds the period: the median time between two samples of one thread. A thread
// that sleeps is not sampled.
void order_samples(HostSamples& host);

}  // namespace nl::parsers
