#include "orchestrator/capture/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "analysis/figures/operators/operators.h"
#include "orchestrator/bundle/redact.h"
#include "orchestrator/capture/calibrate.h"
#include "orchestrator/capture/count.h"
#include "orchestrator/capture/limits.h"
#include "orchestrator/capture/marks.h"
#include "orchestrator/capture/repeats.h"
#include "orchestrator/capture/timeline.h"
#include "orchestrator/capture/trace_nsys.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/sampling/perf_access.h"
#include "parsers/facts/facts.h"
#include "parsers/input_files.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

constexpr const char* kCutTraceFolder = "cut-trace";  // in the bundle

// Beside what Python's processes noted about themselves, and in the same form. A process that ran Python first has a file already.
void keep_native_stacks(const Plan& plan, const sampling::SampledStacks& stacks, const Bundle& bundle, Capture& capture) {
  const auto failed = [&](const std::string& why) { capture.adaptations.push_back({Code::kStacksFailed, {why}}); };
  try {
    for (const auto& [pid, text] : stacks.files) {
      const fs::path file = fs::path(kFactsFolder) / fmt::format("stacks-{}.txt", pid);
      if (!fs::exists(bundle.path() / file)) bundle.write(file, text);
    }
  } catch (const Error& error) {
    failed(error.message);
  }
  if (stacks.error == 0) return;
  const auto paranoid = sampling::perf_paranoid();
  const std::string trouble = sampling::perf_trouble(stacks.error, paranoid);
  if (!sampling::is_refusal(stacks.error)) return failed(trouble);
  // A Python workload is sampled by itself.
  if (parsers::process_files(plan.bundle / kFactsFolder, "facts-", ".json").empty())
    capture.adaptations.push_back({Code::kStacksRefused, {trouble, sampling::perf_fix(stacks.error, paranoid)}});
}

void trace_by_collector(const Plan& plan, const Pass& pass, PassRunner& runner, Capture& capture) {
  const auto result = runner.run(pass);
  if (!result) return;
  capture.cut_short = result->had_enough;
  if (!capture.cut_short) capture.workload_exit = result->exit_status;
  capture.collector_files = collector_files(plan.bundle / pass.outputs.at(0));
  keep_native_stacks(plan, result->stacks, runner.bundle(), capture);
  judge_workload(plan, pass, *result, runner.last(), runner.verdict());
  // What is timed as a whole need not mark anything.
  if (capture.collector_files.empty() && !prefers_ranges(plan.config) && !runner.verdict().failure())
    runner.verdict().add(Code::kCollectorSilent, {}, "collector/");
}

std::int64_t utc_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void trace_once(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, Capture& capture) {
  std::vector<Pass> limited(passes.begin(), passes.end());
  limit_trace_size(limited.front(), plan);
  capture.traced_at_ns = utc_now_ns();
  if (plan.tracer == Tracer::kNsys) trace_by_nsys(plan, limited, runner, capture);
  else trace_by_collector(plan, limited.front(), runner, capture);
  capture.power = runner.take_power();
}

// What there is of a trace that grew too large.
void keep_cut_trace(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, Capture& capture) {
  if (plan.tracer == Tracer::kNsys) capture.nsys_sqlite = export_nsys(passes.back(), plan.config, runner);
  runner.verdict().add(Code::kTraceCutShort, {plan.config.capture.max_size});
}

// The same passes of a plan that has as many.
std::span<const Pass> same_passes(const Plan& plan, std::span<const Pass> passes, const Plan& instead) {
  return std::span(instead.passes).subspan(static_cast<std::size_t>(passes.data() - plan.passes.data()), passes.size());
}

// A trace and what its processes noted, set aside and, where nothing better came of it, brought back.
void exchange(const fs::path& bundle, const std::string& folder, const fs::path& aside) {
  std::error_code ignored;
  if (!fs::exists(aside)) {
    fs::rename(bundle / folder, aside);
    fs::rename(bundle / kFactsFolder, aside / kFactsFolder, ignored);
    return;
  }
  for (const fs::path& failed : {bundle / folder, bundle / kFactsFolder}) fs::remove_all(failed, ignored);
  fs::rename(aside / kFactsFolder, bundle / kFactsFolder, ignored);
  fs::rename(aside, bundle / folder);
}

// Once more with less in it where it grew too large: the first trace is set aside until there is a better one. The plan that was
// followed then.
std::optional<Plan> trace(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, Capture& capture) {
  trace_once(plan, passes, runner, capture);
  if (!capture.cut_short) return std::nullopt;
  std::optional<LighterPlan> lighter = lighter_plan(plan);
  if (!lighter || runner.verdict().stopped()) return keep_cut_trace(plan, passes, runner, capture), std::nullopt;
  const std::string folder = plan.tracer == Tracer::kNsys ? "nsys" : "collector";
  exchange(plan.bundle, folder, plan.bundle / kCutTraceFolder);
  runner.last().outputs = {kCutTraceFolder};
  Capture second;
  second.adaptations = capture.adaptations;
  const auto instead = same_passes(plan, passes, lighter->plan);
  trace_once(lighter->plan, instead, runner, second);
  if (second.cut_short) keep_cut_trace(lighter->plan, instead, runner, second);
  if (!second.any()) {  // it failed, which the verdict says: what was there is better than nothing
    exchange(plan.bundle, folder, plan.bundle / kCutTraceFolder);
    return keep_cut_trace(plan, passes, runner, capture), std::nullopt;
  }
  second.adaptations.push_back({Code::kTracedWithLess, {plan.config.capture.max_size, lighter->without, kCutTraceFolder}});
  second.workload_starts = capture.workload_starts;
  capture = std::move(second);
  return std::move(lighter->plan);
}

Trace read_trace(const Plan& plan, const Capture& capture, Verdict& verdict) {
  try {
    if (!capture.nsys_sqlite.empty()) {
      Trace trace = parsers::read_nsys_sqlite(capture.nsys_sqlite);
      parsers::join_process_ranks(parsers::read_facts(plan.bundle / kFactsFolder).ranks, trace);
      return with_stages(std::move(trace), plan.config);
    }
    if (!capture.collector_files.empty())
      return with_stages(import_collector_files(capture.collector_files, plan.bundle / "collector" / "run.sqlite"), plan.config);
  } catch (const Error& error) {
    verdict.add(error);
  }
  return {};
}

// Everything the bundle needs of it is in the trace by then; a damaged one is kept to be looked at.
void drop_unwanted_export(const Plan& plan, const Capture& capture, PassRunner& runner) {
  if (plan.config.nsys.sqlite || capture.nsys_sqlite.empty() || runner.verdict().failure()) return;
  std::error_code ignored;
  fs::remove(capture.nsys_sqlite, ignored);
  for (PassRecord& pass : runner.records()) {
    if (pass.kind != PassKind::kNsysExport) continue;
    pass.outputs.clear();
    pass.detail = "read, and not kept (nsys.export.sqlite: false)";
  }
}

// Sampling that was asked for and did not work. Stalls come instead of activity where both are asked for; the plan says so.
void judge_sampling(const Plan& plan, const Trace& trace, Verdict& verdict) {
  const auto& wanted = plan.config.capture;
  const bool activity = wanted.sampling_us > 0 && wanted.pc_sampling == 0 && trace.metric_series.empty();
  const bool stalls = wanted.pc_sampling > 0 && trace.stalls.empty();
  const auto judge = [&](bool asked, std::initializer_list<Code> codes) {
    const Remark* trouble = find_first(trace.stats.notes, codes);
    if (asked && trouble != nullptr) verdict.add(*trouble);
  };
  judge(activity, {Code::kActivityDenied, Code::kActivityFailed});
  judge(stalls, {Code::kStallsDenied, Code::kStallsFailed});
}

// The collector says in its trace what kept CUPTI from recording.
void judge_recording(const Trace& trace, Verdict& verdict) {
  if (trace.has_kernel_data) return;
  const Remark* trouble = find_first(trace.stats.notes, {Code::kNotRecorded});
  if (trouble != nullptr) verdict.add(Code::kCuptiSilent, trouble->details, "collector/");
}

void read_capture(const Plan& plan, PassRunner& runner, Capture& capture) {
  {
    const Activity reading("reading the trace");
    capture.trace = read_trace(plan, capture, runner.verdict());
  }
  drop_unwanted_export(plan, capture, runner);
  if (plan.tracer != Tracer::kCupti) return;
  judge_sampling(plan, capture.trace, runner.verdict());
  judge_recording(capture.trace, runner.verdict());
}

// Why an operator pass would find nothing new; empty where it would.
std::string why_useless(const Plan& plan, const Capture& capture) {
  const Trace& trace = capture.trace;
  if (capture.cut_short) return "the trace without operators is too large already (capture.max_size)";
  if (trace.kernels.empty() && trace.graph_runs.empty()) return "no GPU work was recorded";
  if (analysis::has_torch_operators(trace)) return "the trace has PyTorch's operators";
  return parsers::read_facts(plan.bundle / kFactsFolder).uses_torch() ? "" : "the workload is no Python program that uses PyTorch";
}

class OperatorPass {
 public:
  OperatorPass(const Plan& plan, PassRunner& runner, Capture& capture) : plan_(plan), runner_(runner), capture_(capture) {}

  void run(std::span<const Pass> passes) {
    const auto result = runner_.run(passes.front());
    if (!ended_well(result ? &*result : nullptr)) {
      if (passes.size() > 1) runner_.skip(passes.back(), "there is nothing to export");
      if (result && !result->interrupted)
        note(result->timed_out ? "was ended by its timeout" : fmt::format("ended with status {}", result->exit_status), "operators");
      return;
    }
    try {
      if (passes.size() > 1) read_export(passes.back());
      else read_files(passes.front());
    } catch (const Error& error) {
      note("could not be read: " + error.message, "operators");
    }
  }

 private:
  void read_files(const Pass& pass) {
    const auto files = collector_files(plan_.bundle / pass.outputs.at(0));
    if (files.empty()) return note("left no file of the collector", "operators");
    capture_.operators = read_collector_timeline(files, plan_.config);
  }

  void read_export(const Pass& pass) {
    const fs::path sqlite = plan_.bundle / pass.outputs.at(0);
    const auto result = runner_.run(pass);
    if (!ended_well(result ? &*result : nullptr)) {
      drop(sqlite);
      if (result && !result->interrupted) note("could not be exported" + last_words(result->stderr_text, 2), "operators-export");
      return;
    }
    try {
      if (!plan_.config.artifacts.keep_env) redact_environment(sqlite);
      capture_.operators = read_nsys_timeline(sqlite, plan_.config);
    } catch (const Error&) {
      drop(sqlite);
      throw;
    }
    if (plan_.config.nsys.sqlite) return;
    drop(sqlite);
    runner_.last().detail = "read, and not kept (nsys.export.sqlite: false)";
  }

  void drop(const fs::path& sqlite) {
    std::error_code ignored;
    fs::remove(sqlite, ignored);
    runner_.last().outputs.clear();
  }

  void note(const std::string& what, const std::string& log) {
    capture_.adaptations.push_back({Code::kOperatorsFailed, {what}, fmt::format("logs/{}.stderr.log", log)});
  }

  const Plan& plan_;
  PassRunner& runner_;
  Capture& capture_;
};

// The operator pass, and capture.operators from it. The trace is read by now: it and the facts of the processes say whether there
// are operators to record. Whatever goes wrong is noted in capture.adaptations and fails nothing.
void record_operators(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, Capture& capture) {
  if (passes.empty()) return;
  const bool failed = runner.verdict().failure() == ErrorKind::kWorkload;
  const std::string why = failed || runner.verdict().stopped() ? "the captured pass did not go well" : why_useless(plan, capture);
  if (why.empty()) return OperatorPass(plan, runner, capture).run(passes);
  for (const Pass& pass : passes) runner.skip(pass, why);
  if (!failed && !runner.verdict().stopped()) capture.adaptations.push_back({Code::kOperatorsLeftOut, {why}});
}

bool records_operators(const Pass& pass) { return pass.kind == PassKind::kOperators || pass.kind == PassKind::kOperatorsExport; }
bool calibrates(const Pass& pass) { return pass.kind == PassKind::kCalibration; }
bool repeats_workload(const Pass& pass) { return pass.optional && !records_operators(pass) && !calibrates(pass); }
bool traces(const Pass& pass) {
  return pass.kind == PassKind::kNsys || pass.kind == PassKind::kNsysExport || pass.kind == PassKind::kCollector;
}

std::span<const Pass> cut_off(std::span<const Pass>& rest, bool (*belongs)(const Pass&)) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), belongs);
  const auto part = rest.first(static_cast<std::size_t>(end - rest.begin()));
  rest = rest.subspan(part.size());
  return part;
}

}  // namespace

// The parts follow each other as their passes do in the plan, and the last takes all that are left.
Capture execute(const Plan& plan, Runner& runner) {
  Capture capture;
  capture.adaptations = plan.adaptations;
  capture.workload_starts = workload_starts(plan.passes);
  RepeatedPasses repeats(plan);
  std::span<const Pass> rest = plan.passes;
  runner.run(cut_off(rest, repeats_workload), [&](auto passes, PassRunner& live) { repeats.run_before(passes, live); });
  std::optional<Plan> followed;  // instead of the plan, where its trace grew too large
  runner.run(cut_off(rest, traces), [&](auto passes, PassRunner& live) { followed = trace(plan, passes, live, capture); });
  bool is_read = false;
  const auto read_once = [&](PassRunner& live) -> const Trace& {
    if (!std::exchange(is_read, true)) read_capture(plan, live, capture);
    return capture.trace;
  };
  runner.run(cut_off(rest, repeats_workload), [&](auto passes, PassRunner& live) {
    capture.repeats = repeats.run_after({.passes = followed ? same_passes(plan, passes, *followed) : passes,
                                         .further = followed ? followed->further : plan.further,
                                         .trace = [&]() -> const Trace& { return read_once(live); }},
                                        live, capture);
  });
  runner.run(cut_off(rest, records_operators), [&](auto passes, PassRunner& live) {
    read_once(live);
    record_operators(plan, passes, live, capture);
  });
  runner.run(cut_off(rest, calibrates), [&](auto passes, PassRunner& live) { calibrate(plan, passes, live, capture); });
  runner.run(rest, [&](auto passes, PassRunner& live) {
    count(plan, passes, live, capture);
    capture.passes = live.records();
    capture.expected_s = live.time().expected_s();
    if (const auto left_out = live.time().left_out()) capture.adaptations.push_back(*left_out);
  });
  return capture;
}

}  // namespace nl::orchestrator
