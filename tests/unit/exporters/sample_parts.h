#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/run.h"
#include "model/words.h"

// Makers of the parts of a sample run whose structs may still grow: what is not named here keeps its default.
namespace nl::test {

void add_counters(Run& run);  // to its stages; rich_run_counters.cpp

inline TimeSummary summary(std::uint64_t count, double mean_ns, double spread) {
  TimeSummary out;
  out.count = count;
  out.total_ns = static_cast<Ns>(mean_ns * static_cast<double>(count));
  out.mean_ns = mean_ns;
  out.median_ns = mean_ns * (1 - spread / 4);
  out.p99_ns = static_cast<Ns>(mean_ns * (1 + 2 * spread));
  out.min_ns = static_cast<Ns>(mean_ns * (1 - spread));
  out.max_ns = static_cast<Ns>(mean_ns * (1 + 2 * spread));
  out.stddev_ns = count > 1 ? mean_ns * spread : 0;
  return out;
}

inline OperatorShape shape(std::string text, std::uint64_t calls, Ns total_ns) {
  OperatorShape out;
  out.text = std::move(text);
  out.calls = calls;
  out.total_ns = total_ns;
  out.cuda_total_ns = total_ns / 2;
  return out;
}

inline FindingEvidence evidence(std::string text, bool held, std::string reference) {
  FindingEvidence out;
  out.text = std::move(text);
  out.held = held;
  out.reference = std::move(reference);
  return out;
}

inline FindingEvidence windowed(FindingEvidence out, Ns start_ns, Ns end_ns) {
  out.window_start_ns = start_ns;
  out.window_end_ns = end_ns;
  return out;
}

inline FindingEvidence unknown(std::string text) {
  FindingEvidence out = evidence(std::move(text), false, "");
  out.known = false;
  return out;
}

inline Abstention abstention(std::string rule, RuleScope scope, std::string missing, std::string why, std::string command) {
  Abstention out;
  out.rule = std::move(rule);
  out.scope = scope;
  out.missing = {std::move(missing)};
  out.why = std::move(why);
  out.command = std::move(command);
  return out;
}

inline StageSlowdown slowdown(PassKind profiler, std::string stage, std::vector<double> bare_ns, std::vector<double> profiled_ns) {
  StageSlowdown out;
  out.profiler = profiler;
  out.stage = std::move(stage);
  out.bare_ns = std::move(bare_ns);
  out.profiled_ns = std::move(profiled_ns);
  return out;
}

inline StageSlowdown judged(StageSlowdown out, double slowdown, double low, double high, SlowdownVerdict verdict) {
  out.slowdown = slowdown;
  out.low = low;
  out.high = high;
  out.verdict = verdict;
  out.summary = std::string(key_of(out.profiler)) + " on " + out.stage + ": " + std::string(key_of(verdict));
  return out;
}

inline StageEnergy energy(std::string stage, double joules_per_window, double joules_per_token, double mean_power_w,
                          std::uint64_t samples) {
  StageEnergy out;
  out.stage = std::move(stage);
  out.joules_per_window = joules_per_window;
  out.joules_per_token = joules_per_token;
  out.mean_power_w = mean_power_w;
  out.samples = samples;
  return out;
}

inline Iteration iteration(Ns start_ns, Ns wall_ns, bool warmup, std::vector<std::pair<std::string, Ns>> stages) {
  Iteration out;
  out.start_ns = start_ns;
  out.wall_ns = wall_ns;
  out.warmup = warmup;
  out.stages = std::move(stages);
  out.pid = 970;
  out.tid = 973;
  return out;
}

}  // namespace nl::test
