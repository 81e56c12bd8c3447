#include "orchestrator/capture/repeats.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/figures/energy/energy.h"
#include "analysis/figures/overhead/measured.h"
#include "model/words.h"
#include "orchestrator/capture/plan_parts.h"
#include "orchestrator/capture/timeline.h"
#include "orchestrator/config/knowledge.h"
#include "parsers/collector/trace.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

double seconds(Ns duration_ns) { return static_cast<double>(duration_ns) * 1e-9; }

// What a pass that does not count says of itself.
std::string ending_of(const ProcessResult& result, double timeout_s) {
  if (result.interrupted) return "was interrupted";
  if (result.timed_out) return fmt::format("was ended after {:.0f} s", timeout_s);
  return fmt::format("ended with status {}", result.exit_status);
}

bool is_repeat(PassKind kind) { return kind == PassKind::kNsysRepeat || kind == PassKind::kCollectorRepeat; }

}  // namespace

void RepeatedPasses::run_before(std::span<const Pass> passes, PassRunner& runner) {
  passes_ = passes;
  runner_ = &runner;
  if (!after_) began_unprofiled_ = !passes.empty();
  run_step(*this, runner);
}

Repeats RepeatedPasses::run_after(const AfterCapture& what, PassRunner& runner, const Capture& capture) {
  go_on_after(capture);
  all_.assign(what.passes.begin(), what.passes.end());
  planned_ = all_.size();
  all_.insert(all_.end(), what.further.begin(), what.further.end());
  trace_ = what.trace;
  pairs_ = config_.perturbation.repeats;
  at_ = 0;
  run_before(all_, runner);
  if (repeats_.end == RepeatsEnd::kFixed && !what.further.empty()) repeats_.end = RepeatsEnd::kMost;
  return std::move(repeats_);
}

bool RepeatedPasses::fits(double more_s) const { return spent_s_ + more_s <= config_.perturbation.budget_s; }

Pass RepeatedPasses::within_budget(Pass pass) const {
  const double left_s = std::max(config_.perturbation.budget_s - spent_s_, 1.0);
  pass.process.timeout_s = pass.process.timeout_s > 0 ? std::min(pass.process.timeout_s, left_s) : left_s;
  return pass;
}

// Where no range tells how long a step takes, its launches do.
Pass RepeatedPasses::unprofiled_after(Pass pass) const {
  if (marks_nothing_ && !surely_no_gpu(plan_.tools)) record_launches(pass, config_, plan_.tools);
  return pass;
}

std::optional<Pass> RepeatedPasses::next() { return after_ ? next_after() : next_before(); }

std::optional<Pass> RepeatedPasses::next_before() {
  while (at_ < passes_.size()) {
    const Pass& pass = passes_[at_++];
    if (fits(1e-9)) return within_budget(pass);
    repeats_.notes.push_back("no unprofiled pass was run: perturbation.budget_s is 0");
    runner_->skip(pass, "perturbation.budget_s is 0");
  }
  return std::nullopt;
}

// The collector's GPU half may not have come to work: another client holds CUPTI, there is no libcupti.
bool RepeatedPasses::has_trace(const Capture& capture) const {
  if (plan_.tracer != Tracer::kCupti || repeats_.before.empty()) return capture.any();
  try {
    return parsers::gpu_half_recorded(capture.collector_files);
  } catch (const Error&) {
    return false;  // the reader of the report's captures says why
  }
}

void RepeatedPasses::go_on_after(const Capture& capture) {
  compare_exits(capture);
  for (const PassRecord& record : runner_->records())
    if (record.kind == PassKind::kNsys || record.kind == PassKind::kNsysExport || record.kind == PassKind::kCollector)
      traced_s_ += seconds(record.duration_ns);
  traced_ = has_trace(capture);
  captured_ = capture.any();
  after_ = true;
}

// An unprofiled pass, then a traced one, as long as both will fit.
std::optional<Pass> RepeatedPasses::next_after() {
  for (; at_ < passes_.size(); ++at_) {
    const Pass& pass = passes_[at_];
    if (pass.kind == PassKind::kUnprofiled && at_ >= planned_) {
      if (may_go_on(pass)) return within_budget(unprofiled_after(passes_[at_++]));
      at_ = passes_.size();
      return std::nullopt;
    }
    if (pass.kind == PassKind::kUnprofiled) {
      const auto why = no_further(pass);
      if (!why) return within_budget(unprofiled_after(passes_[at_++]));
      leave_out(at_, *why);
      at_ = passes_.size();
      return std::nullopt;
    }
    if (is_repeat(pass.kind) && may_repeat(at_)) return within_budget(passes_[at_++]);
    if (pass.kind == PassKind::kNsysRepeatExport && repeated_ns_) return within_budget(passes_[at_++]);
  }
  return std::nullopt;
}

// One more pair than perturbation.repeats says. Those that are not run are not reported one by one: they were never certain.
bool RepeatedPasses::may_go_on(const Pass& pass) {
  if (repeats_.end != RepeatsEnd::kFixed) return false;  // those that were certain did not all run
  const bool useful = pairs_ == config_.perturbation.repeats || repeats_.after.size() >= counted_ + 2;
  if (verdict().stopped() || !captured_ || verdict().failure() || !traced_ || !useful) {
    repeats_.end = RepeatsEnd::kStopped;
    return false;
  }
  const std::vector<int> looks = analysis::overhead_looks(config_.perturbation.repeats, config_.perturbation.most_repeats);
  if (std::find(looks.begin(), looks.end(), pairs_) != looks.end() && is_decided()) {
    repeats_.end = RepeatsEnd::kDecided;
    return false;
  }
  if (!fits(unprofiled_s_ + traced_s_) || runner_->time().refusal(pass)) {
    repeats_.end = RepeatsEnd::kBudget;
    return false;
  }
  ++pairs_;
  counted_ = repeats_.after.size();
  return true;
}

// True also where more passes would not decide it: there is no stage that they could be compared by.
bool RepeatedPasses::is_decided() {
  const Trace& trace = trace_();
  if (verdict().failure()) return true;
  const analysis::StagedTrace staged(trace, warmup_rule(config_));
  const PassKind tracer = tracing_pass(plan_.tracer);
  Ns duration_ns = 0;
  for (const PassRecord& record : runner_->records())
    if (record.kind == tracer && record.outcome == PassOutcome::kOk) duration_ns = record.duration_ns;
  const Perturbation so_far =
      analysis::overhead_so_far(repeats_, analysis::pass_times(tracer, staged, duration_ns), staged, overhead_rule(config_));
  return !so_far.decision || so_far.decision->undecided.empty();
}

// Where it returns false, the pass and its export are skipped.
bool RepeatedPasses::may_repeat(std::size_t at) {
  const auto late = runner_->time().refusal(passes_[at]);
  if (!verdict().stopped() && fits(traced_s_) && !late) return true;
  const Remark why =
      late ? *late : Remark{Code::kNote, {verdict().stopped() ? "the run was ended early" : "it would not fit into perturbation.budget_s"}};
  runner_->skip(passes_[at], why);
  if (passes_[at].kind == PassKind::kNsysRepeat) runner_->skip(passes_[at + 1], why);
  repeats_.end = verdict().stopped() ? RepeatsEnd::kStopped : RepeatsEnd::kBudget;
  repeats_.notes.push_back(fmt::format("{} was left out: {}", passes_[at].process.label, text_of(why)));
  return false;
}

std::optional<Remark> RepeatedPasses::no_further(const Pass& pass) const {
  if (const std::string why = why_not_compare(); !why.empty()) return Remark{Code::kNote, {why}};
  return runner_->time().refusal(pass);
}

std::string RepeatedPasses::why_not_compare() const {
  if (verdict().stopped()) return "the run was ended early";
  if (!captured_ || verdict().failure()) return "the captured pass did not go well";
  if (!traced_) return "overhead not measured: no GPU work was recorded";
  if (began_unprofiled_ && repeats_.before.empty()) return "the first unprofiled pass gave nothing to compare with";
  if (!fits(unprofiled_s_ + traced_s_))
    return fmt::format(
        "an unprofiled and a traced pass take {:.0f} s, and of perturbation.budget_s ({:.0f} s) "
        "{:.0f} s are left",
        unprofiled_s_ + traced_s_, config_.perturbation.budget_s, config_.perturbation.budget_s - spent_s_);
  return {};
}

void RepeatedPasses::leave_out(std::size_t from, const Remark& why) {
  int left_out = 0;
  repeats_.end = verdict().stopped() || verdict().failure() || !traced_ || !captured_ ? RepeatsEnd::kStopped : RepeatsEnd::kBudget;
  for (const Pass& pass : passes_.subspan(from, planned_ - from)) {
    runner_->skip(pass, why);
    left_out += pass.kind == PassKind::kUnprofiled;
  }
  repeats_.notes.push_back(fmt::format("{} of {} repetitions were left out: {}", left_out, config_.perturbation.repeats, text_of(why)));
}

void RepeatedPasses::take(const Pass& pass, const ProcessResult* result, PassRecord& record) {
  // Taken from the runner whether the pass counts or not: else they would pass for the readings of the trace.
  std::vector<PowerSample> power = pass.kind == PassKind::kUnprofiled ? runner_->take_power() : std::vector<PowerSample>();
  if (result == nullptr) return drop(pass);
  spent_s_ += seconds(result->duration_ns);
  if (!ended_well(result))
    repeats_.notes.push_back(fmt::format("{} {}: it does not count", pass.process.label, ending_of(*result, pass.process.timeout_s)));
  if (pass.kind == PassKind::kUnprofiled) return take_unprofiled(pass, *result, std::move(power));
  record.outputs.clear();
  if (!ended_well(result)) {
    repeated_ns_.reset();
    return drop(pass);
  }
  if (is_repeat(pass.kind)) {
    record.detail = "for its timings: not kept";
    repeated_ns_ = result->duration_ns;
  }
  if (pass.kind == PassKind::kNsysRepeat) return;  // its export comes next
  try {
    read_repeat(pass.process.label, pass.kind == PassKind::kCollectorRepeat
                                        ? read_collector_timeline(collector_files(plan_.bundle / pass.outputs.at(0)), config_)
                                        : read_nsys_timeline(plan_.bundle / pass.outputs.at(0), config_, {.host = false}));
  } catch (const Error& error) {
    repeats_.notes.push_back(fmt::format("{} could not be read: {}", pass.process.label, error.message));
  }
  drop(pass);
}

void RepeatedPasses::read_repeat(const std::string& label, const Trace& trace) {
  const Ns duration_ns = *std::exchange(repeated_ns_, std::nullopt);
  if (plan_.tracer == Tracer::kCupti && !trace.has_kernel_data)
    return repeats_.notes.push_back(label + ": the collector recorded no GPU work, so it does not count");
  repeats_.after.push_back(analysis::pass_times(tracing_pass(plan_.tracer), {trace, warmup_rule(config_)}, duration_ns));
}

// Large, and full of the workload's environment: gone when the times are read, or could not be.
void RepeatedPasses::drop(const Pass& pass) const {
  std::error_code ignored;
  if (pass.kind == PassKind::kUnprofiled) return;
  const fs::path output = plan_.bundle / pass.outputs.at(0), stem = output.parent_path() / output.stem();
  for (const fs::path& path : {output, fs::path(stem.string() + ".nsys-rep"), fs::path(stem.string() + ".sqlite")})
    fs::remove_all(path, ignored);
  fs::remove(output.parent_path(), ignored);  // where it was the last
}

void RepeatedPasses::finish() { repeated_ns_.reset(); }

void RepeatedPasses::take_unprofiled(const Pass& pass, const ProcessResult& result, std::vector<PowerSample> power) {
  unprofiled_s_ = std::max(unprofiled_s_, seconds(result.duration_ns));
  if (!unprofiled_exit_ && !result.timed_out && !result.interrupted) unprofiled_exit_ = result.exit_status;
  if (ended_well(&result)) read_unprofiled(pass, result.duration_ns, std::move(power));
}

void RepeatedPasses::read_unprofiled(const Pass& pass, Ns duration_ns, std::vector<PowerSample> power) {
  try {
    const auto files = collector_files(plan_.bundle / pass.outputs.at(0));
    if (files.empty()) repeats_.notes.push_back(pass.process.label + ": the collector recorded nothing");
    const Trace trace = read_collector_timeline(files, config_);
    const analysis::StagedTrace staged(trace, warmup_rule(config_));
    PassTimes times = analysis::pass_times(PassKind::kUnprofiled, staged, duration_ns);
    marks_nothing_ = times.stages.empty();
    if (pass.records_launches) times.launches = read_launches(pass, files);
    (after_ ? repeats_.after : repeats_.before).push_back(std::move(times));
    if (!power.empty()) repeats_.unprofiled_power.push_back({std::move(power), analysis::stage_windows(staged)});
  } catch (const Error& error) {
    repeats_.notes.push_back(fmt::format("{} could not be read: {}", pass.process.label, error.message));
  }
}

std::vector<ThreadLaunches> RepeatedPasses::read_launches(const Pass& pass, const std::vector<fs::path>& files) {
  parsers::RecordedLaunches recorded = parsers::read_collector_launches(files);
  const Remark* trouble = find_first(recorded.notes, {Code::kNotRecorded});
  if (recorded.threads.empty())
    repeats_.notes.push_back(fmt::format("{} tells no time of a step: no launch was recorded{}", pass.process.label,
                                         trouble != nullptr ? " (" + text_of(*trouble) + ")" : ""));
  return std::move(recorded.threads);
}

// Notes a workload whose exit status differs between unprofiled and profiled passes.
void RepeatedPasses::compare_exits(const Capture& capture) {
  if (!unprofiled_exit_ || !capture.workload_exit || *unprofiled_exit_ == *capture.workload_exit || verdict().stopped()) return;
  verdict().add(
      Code::kWorkloadDiffers,
      {std::to_string(*unprofiled_exit_), std::to_string(*capture.workload_exit), analysis::profiler_words(tracing_pass(plan_.tracer))},
      "logs/unprofiled-1.stderr.log");
}

}  // namespace nl::orchestrator
