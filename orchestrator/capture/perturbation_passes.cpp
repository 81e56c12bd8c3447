#include "orchestrator/capture/perturbation_passes.h"

#include <fmt/format.h>

#include <algorithm>

#include "orchestrator/config/warmup_rule.h"
#include "parsers/collector/trace.h"
#include "parsers/nsys/sqlite.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

double seconds(Ns duration_ns) { return static_cast<double>(duration_ns) * 1e-9; }

bool ended_well(const std::optional<ProcessResult>& result) {
  return result && result->exit_status == 0 && !result->timed_out && !result->interrupted;
}

// What a pass that does not count says of itself.
std::string ending_of(const ProcessResult& result, double timeout_s) {
  if (result.interrupted) return "was interrupted";
  if (result.timed_out) return fmt::format("was ended after {:.0f} s", timeout_s);
  return fmt::format("ended with status {}", result.exit_status);
}

// Large, and full of the workload's environment: gone when the times are read, or could not be.
struct Passing {
  std::vector<fs::path> paths;  // of one folder
  ~Passing() {
    std::error_code ignored;
    for (const auto& path : paths) fs::remove_all(path, ignored);
    fs::remove(paths[0].parent_path(), ignored);  // where it was the last
  }
};

double duration_of(const std::vector<PassRecord>& records, const std::string& name) {
  for (const PassRecord& record : records)
    if (record.name == name) return seconds(record.duration_ns);
  return 0;
}

}  // namespace

RepeatedPasses::RepeatedPasses(const Plan& plan, const Config& config, const Bundle& bundle, PassRunner& passes,
                               Verdict& verdict)
    : plan_(plan), config_(config), bundle_(bundle), passes_(passes), verdict_(verdict) {
  while (capture_at_ < plan.passes.size() && plan.passes[capture_at_].optional) ++capture_at_;
}

bool RepeatedPasses::fits(double more_s) const { return spent_s_ + more_s <= config_.perturbation.budget_s; }

void RepeatedPasses::run_before() {
  for (std::size_t i = 0; i < capture_at_; ++i) {
    if (fits(1e-9)) {
      run_bare(plan_.passes[i], repeats_.before);
      continue;
    }
    repeats_.notes.push_back("no unprofiled pass was run: perturbation.budget_s is 0");
    passes_.skip(plan_.passes[i], "perturbation.budget_s is 0");
  }
}

// The collector's GPU half may not have come to work: another client holds CUPTI, there is no libcupti.
bool RepeatedPasses::has_trace(const Capture& capture) const {
  if (plan_.traced_by != kByCupti || repeats_.before.empty()) return capture.any();
  try {
    return parsers::gpu_half_recorded(capture.collector_files);
  } catch (const Error&) {
    return false;  // whoever reads it for the report says why
  }
}

// A bare pass, then a traced one, as long as both will fit.
Repeats RepeatedPasses::run_after(const Capture& capture) {
  compare_exits(capture);
  for (const char* name : {"nsys", "nsys-export", "collector"}) traced_s_ += duration_of(passes_.records(), name);
  traced_ = has_trace(capture);
  for (std::size_t i = capture_at_; i < plan_.passes.size(); ++i) {
    const Pass& pass = plan_.passes[i];
    if (pass.name == "bare") {
      if (const std::string why = no_further(capture); !why.empty()) {
        leave_out(i, why);
        break;
      }
      run_bare(pass, repeats_.after);
    } else if (pass.name == "nsys-repeat") {
      run_repeat(pass, &plan_.passes.at(i + 1));
    } else if (pass.name == "collector-repeat") {
      run_repeat(pass, nullptr);
    }
  }
  return std::move(repeats_);
}

std::string RepeatedPasses::no_further(const Capture& capture) const {
  if (verdict_.stopped()) return "the run was ended early";
  if (!capture.any() || verdict_.failure()) return "the captured pass did not go well";
  if (!traced_) return "the captured pass recorded no GPU work: there is no trace to tell the cost of";
  if (repeats_.before.empty()) return "the first unprofiled pass gave nothing to compare with";
  if (!fits(bare_s_ + traced_s_))
    return fmt::format("an unprofiled and a traced pass take {:.0f} s, and of perturbation.budget_s ({:.0f} s) "
                       "{:.0f} s are left",
                       bare_s_ + traced_s_, config_.perturbation.budget_s, config_.perturbation.budget_s - spent_s_);
  return {};
}

void RepeatedPasses::leave_out(std::size_t from, const std::string& why) {
  int left_out = 0;
  for (std::size_t i = from; i < plan_.passes.size(); ++i) {
    if (!plan_.passes[i].optional) continue;
    passes_.skip(plan_.passes[i], why);
    left_out += plan_.passes[i].name == "bare";
  }
  repeats_.notes.push_back(
      fmt::format("{} of {} repetitions were left out: {}", left_out, config_.perturbation.repeats, why));
}

std::optional<ProcessResult> RepeatedPasses::run_within_budget(Pass pass) {
  const double left_s = std::max(config_.perturbation.budget_s - spent_s_, 1.0);
  pass.process.timeout_s = pass.process.timeout_s > 0 ? std::min(pass.process.timeout_s, left_s) : left_s;
  std::error_code ignored;  // if it cannot be made, the pass says so
  const bool into_folder = pass.name == "bare" || pass.name == "collector-repeat";
  for (const auto& output : pass.outputs)
    fs::create_directories(bundle_.path() / (into_folder ? output : output.parent_path()), ignored);
  const auto result = passes_.run(pass);
  if (!result) return result;
  spent_s_ += seconds(result->duration_ns);
  if (!ended_well(result))
    repeats_.notes.push_back(
        fmt::format("{} {}: it does not count", pass.process.label, ending_of(*result, pass.process.timeout_s)));
  return result;
}

void RepeatedPasses::run_bare(const Pass& pass, std::vector<analysis::PassTimes>& times) {
  const auto result = run_within_budget(pass);
  if (!result) return;
  bare_s_ = std::max(bare_s_, seconds(result->duration_ns));
  if (!bare_exit_ && !result->timed_out && !result->interrupted) bare_exit_ = result->exit_status;
  if (ended_well(result)) read_bare(pass, result->duration_ns, times);
}

void RepeatedPasses::read_bare(const Pass& pass, Ns duration_ns, std::vector<analysis::PassTimes>& times) {
  auto power = passes_.take_power();
  try {
    const auto files = collector_files(bundle_.path() / pass.outputs.at(0));
    if (files.empty()) repeats_.notes.push_back(pass.process.label + ": the collector recorded nothing");
    const Trace trace = parsers::read_collector_traces(files);
    times.push_back(analysis::pass_times("", trace, warmup_rule(config_), duration_ns));
    if (!power.empty())
      repeats_.bare_power.push_back({std::move(power), analysis::stage_windows(trace, warmup_rule(config_), {})});
  } catch (const Error& error) {
    repeats_.notes.push_back(fmt::format("{} could not be read: {}", pass.process.label, error.message));
  }
}

// `read`: the export that it needs to be read, if it does.
void RepeatedPasses::run_repeat(const Pass& pass, const Pass* read) {
  if (verdict_.stopped() || !fits(traced_s_)) {
    const std::string why =
        verdict_.stopped() ? "the run was ended early" : "it would not fit into perturbation.budget_s";
    passes_.skip(pass, why);
    if (read != nullptr) passes_.skip(*read, why);
    repeats_.notes.push_back(fmt::format("{} was left out: {}", pass.process.label, why));
    return;
  }
  Passing files{{bundle_.path() / pass.outputs.at(0)}};
  if (read != nullptr) files.paths.push_back(bundle_.path() / read->outputs.at(0));
  const auto traced = run_within_budget(pass);
  if (traced) passes_.last().outputs.clear();
  if (!ended_well(traced)) return;
  passes_.last().detail = "for its timings: not kept";
  read_repeat(pass, read, traced->duration_ns);
}

void RepeatedPasses::read_repeat(const Pass& pass, const Pass* read, Ns duration_ns) {
  if (read != nullptr) {
    Pass quiet = *read;
    quiet.process.label = "export of the " + pass.process.label;
    const auto exported = run_within_budget(quiet);
    if (exported) passes_.last().outputs.clear();
    if (!ended_well(exported)) return;
  }
  try {
    const Trace trace = read != nullptr ? parsers::read_nsys_sqlite(bundle_.path() / read->outputs.at(0))
                                        : parsers::read_collector_traces(collector_files(bundle_.path() / pass.outputs.at(0)));
    if (read == nullptr && !trace.has_kernel_data) {
      repeats_.notes.push_back(pass.process.label + ": the collector recorded no GPU work, so it does not count");
      return;
    }
    repeats_.after.push_back(analysis::pass_times(tracer_of(plan_), trace, warmup_rule(config_), duration_ns));
  } catch (const Error& error) {
    repeats_.notes.push_back(fmt::format("{} could not be read: {}", pass.process.label, error.message));
  }
}

// A workload that ends otherwise when nobody looks is a finding of its own.
void RepeatedPasses::compare_exits(const Capture& capture) {
  if (!bare_exit_ || !capture.workload_exit || *bare_exit_ == *capture.workload_exit || verdict_.stopped()) return;
  verdict_.add(ErrorKind::kCapture,
               fmt::format("the workload ended with status {} unprofiled, and with {} under {}", *bare_exit_,
                           *capture.workload_exit, analysis::profiler_words(tracer_of(plan_))),
               "logs/bare-1.stderr.log", "run it alone a few times: if it always ends well, the profiler disturbs it");
}

}  // namespace nl::orchestrator
