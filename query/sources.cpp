#include "query/sources.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "analysis/trace/api_kind.h"
#include "orchestrator/capture/timeline.h"
#include "orchestrator/config/config.h"
#include "orchestrator/config/knowledge.h"
#include "orchestrator/import.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/run_captures.h"
#include "parsers/collector/trace.h"
#include "parsers/kineto/graph_captures.h"
#include "parsers/nsys/sqlite.h"
#include "parsers/stacks/stacks.h"
#include "query/idle_time.h"
#include "runs/ledger/bundles.h"
#include "runs/ledger/find_run.h"

namespace fs = std::filesystem;

namespace nl::query {
namespace {

using parsers::Gives;

// Everything beyond the tables of a trace is found in all of it.
constexpr Needs kWholeTrace = kTrace | kWindows | kBins | kGaps;

orchestrator::ImportRequest request_of(const Subject& subject) {
  orchestrator::ImportRequest request;
  request.config = orchestrator::load_config({.model_file = "", .sets = subject.sets});
  orchestrator::add_captures_of(runs::place_of(subject.run, subject.ledger), request);
  return request;
}

// By the collector and by nsys a call is a row of one table. The analysis has those that launched GPU work or waited for it apart.
void part_calls(Trace& trace) {
  std::vector<std::uint32_t> places(trace.api_calls.size(), kNone);
  const auto works = [&](std::uint32_t api) {
    if (api < places.size()) places[api] = 0;
  };
  for (const Kernel& kernel : trace.kernels) works(kernel.api);
  for (const MemOp& op : trace.mem_ops) works(op.api);
  for (const GraphRun& run : trace.graph_runs) works(run.api);
  std::vector<ApiCall> kept;
  analysis::ApiKinds kinds(trace);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const ApiCall& call = trace.api_calls[i];
    const bool keeps = places[i] != kNone || kinds.of(call).waits;
    places[i] = keeps ? static_cast<std::uint32_t>(kept.size()) : kNone;
    (keeps ? kept : trace.other_calls).push_back(call);
  }
  trace.api_calls = std::move(kept);
  const auto move = [&](std::uint32_t& api) { api = api < places.size() ? places[api] : kNone; };
  for (Kernel& kernel : trace.kernels) move(kernel.api);
  for (MemOp& op : trace.mem_ops) move(op.api);
  for (GraphRun& run : trace.graph_runs) move(run.api);
}

parsers::NsysTables tables_for(Needs needs) {
  if ((needs & kWholeTrace) != 0) return {.all_calls = true};
  return {.kernels = (needs & kKernels) != 0,
          .api = (needs & (kCalls | kOsCalls)) != 0,
          .mem_ops = (needs & kCopies) != 0,
          .ranges = false,
          .host = (needs & kOsCalls) != 0,
          .all_calls = (needs & kCalls) != 0};
}

parsers::Files files_of(Gives gives, const std::vector<orchestrator::ImportSource>& sources) {
  for (const orchestrator::ImportSource& source : sources)
    if (source.format->gives == gives) return source.files;
  return {};
}

// A trace as a reader gives it, with what else is known of its time.
Trace completed(Trace trace, const std::vector<orchestrator::ImportSource>& sources, const orchestrator::Config& config) {
  part_calls(trace);
  parsers::join_stacks(files_of(Gives::kHostStacks, sources), trace);
  parsers::join_graph_captures(files_of(Gives::kGraphCaptures, sources), trace);
  return orchestrator::with_stages(std::move(trace), config);
}

void with_trace(const orchestrator::ImportRequest& request, Needs needs, const std::function<void(const Trace&)>& use) {
  orchestrator::check_inputs(request);
  const auto sources = orchestrator::sources_of(request);
  const auto capture = std::find_if(sources.begin(), sources.end(), [](const auto& source) { return source.has_timeline(); });
  const Gives gives = capture != sources.end() ? capture->format->gives : Gives::kOperators;
  const bool whole = (needs & kWholeTrace) != 0;
  const bool ranks = orchestrator::captures_of(sources).size() > 1;
  if (!ranks && gives == Gives::kNsysExport && !parsers::is_report(*capture->format, capture->files[0])) {
    Trace trace = parsers::read_nsys_sqlite(capture->files[0], tables_for(needs));
    if (whole) trace = completed(std::move(trace), sources, request.config);
    return use(trace);
  }
  if (gives == Gives::kCollectorTraces)
    return use(completed(parsers::read_collector_traces(capture->files, parsers::CallRows::kAll), sources, request.config));
  orchestrator::ProcessLauncher launcher;
  orchestrator::with_evidence(request, launcher, [&](const Evidence& evidence, const analysis::Knowledge&) { use(evidence.trace); });
}

// A capture has none: the analysis makes it, as import does.
Run run_of(const Subject& subject) {
  std::error_code ignored;
  const fs::path path = subject.run;
  const bool capture = fs::is_directory(path, ignored) ? !fs::exists(path / "run.json", ignored)
                                                       : fs::exists(path, ignored) && parsers::sniff(path) != nullptr;
  if (!capture) return runs::named_run(subject.run, subject.ledger);
  orchestrator::ProcessLauncher launcher;
  return orchestrator::import_run(request_of(subject), launcher);
}

// What is derived of a trace, as far as it is needed.
void with_derived(const Trace& trace, Needs needs, const analysis::WarmupRule& warmup, Sources sources,
                  const std::function<void(const Sources&)>& use) {
  std::optional<WindowList> windows;
  std::optional<IdleTime> idle;
  sources.trace = &trace;
  if ((needs & (kTrace | kWindows | kBins | kGaps)) != 0) sources.windows = &windows.emplace(analysis::StagedTrace(trace, warmup));
  if ((needs & (kBins | kGaps)) != 0)
    sources.idle = &idle.emplace(trace, *windows, (needs & kGaps) != 0 ? IdleTime::Parts::kBinsAndGaps : IdleTime::Parts::kBins);
  use(sources);
}

}  // namespace

void with_sources(const Subject& subject, Needs needs, const std::function<void(const Sources&)>& use) {
  std::optional<orchestrator::Activity> reading(std::in_place, "reading " + subject.run);
  const auto read = [&](const Sources& all) {
    reading.reset();
    use(all);
  };
  std::optional<Run> run;
  Sources sources;
  if ((needs & kRun) != 0) sources.run = &run.emplace(run_of(subject));
  if ((needs & ~Needs{kRun}) == 0) return read(sources);
  const orchestrator::ImportRequest request = request_of(subject);
  with_trace(request, needs,
             [&](const Trace& trace) { with_derived(trace, needs, orchestrator::warmup_rule(request.config), sources, read); });
}

}  // namespace nl::query
