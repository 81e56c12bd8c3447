#include "analysis/figures/nodes/session_figures.h"

#include <algorithm>

#include "analysis/statistics/time_summary.h"

namespace nl::analysis {
namespace {

// Of each iteration: its operators that no other one called.
std::vector<Ns> operator_sums(const ModelSession& session) {
  std::vector<Ns> sums(session.profiled_ns.size());
  for (const NodeRun& run : session.runs) {
    if (run.iteration >= sums.size() || session.nodes[run.node].depth > 0) continue;
    sums[run.iteration] += session.time_of(run);
  }
  return sums;
}

TimeSummary summary_of(std::vector<Ns> times) { return summarise_times(times); }

}  // namespace

SessionEntry session_figures(const ModelSession& session) {
  SessionEntry entry;
  entry.backend = session.backend;
  entry.version = session.version;
  entry.provider = session.provider;
  entry.precision = session.precision;
  entry.model = session.model;
  entry.inputs_from = session.inputs_from;
  entry.threads = session.threads;
  entry.warmup = session.warmup;
  entry.load_ns = session.load_ns;
  entry.inputs = session.inputs;
  entry.outputs = session.outputs;
  entry.unprofiled = summary_of(session.unprofiled_ns);
  entry.profiled = summary_of(session.profiled_ns);
  entry.notes = session.notes;
  if (entry.unprofiled.median_ns > 0 && entry.profiled.count > 0)
    entry.slowdown = entry.profiled.median_ns / entry.unprofiled.median_ns - 1;
  if (!session.runs.empty()) {
    entry.operators_ns = summary_of(operator_sums(session)).median_ns;
    if (entry.unprofiled.median_ns > 0) entry.operators_share = *entry.operators_ns / entry.unprofiled.median_ns;
  }
  return entry;
}

}  // namespace nl::analysis
