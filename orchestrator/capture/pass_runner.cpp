#include "orchestrator/capture/pass_runner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "model/shell.h"
#include "model/words.h"
#include "orchestrator/config/choices.h"
#include "orchestrator/process/interrupts.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

const char* folder_of(PassKind kind) {
  switch (kind) {
    case PassKind::kNsys:
    case PassKind::kNsysExport:
    case PassKind::kNsysRepeat:
    case PassKind::kNsysRepeatExport: return "nsys";
    case PassKind::kNcu:
    case PassKind::kNcuExportRaw:
    case PassKind::kNcuExportDetails: return "ncu";
    case PassKind::kCollector:
    case PassKind::kCollectorRepeat: return "collector";
    case PassKind::kStageCounters:
    case PassKind::kKernelCounters: return "counters";
    case PassKind::kUnprofiled: return "unprofiled";
    case PassKind::kOperators:
    case PassKind::kOperatorsExport: return "operators";
    case PassKind::kCalibration: return "calibration";
  }
  return "logs";
}

// The collector is all environment: the argv of its passes is the workload's own, and their output is a folder.
bool by_collector(const Pass& pass) {
  switch (pass.kind) {
    case PassKind::kCollector:
    case PassKind::kCollectorRepeat:
    case PassKind::kStageCounters:
    case PassKind::kKernelCounters:
    case PassKind::kUnprofiled: return true;
    case PassKind::kOperators: return !pass.process.profiler;
    default: return false;
  }
}

bool shows_output(PassKind kind, Echo echo) {
  switch (echo) {
    case Echo::kNothing: return false;
    case Echo::kWorkload: return kind == PassKind::kNsys || kind == PassKind::kCollector;
    case Echo::kEverything: return true;
  }
  return false;
}

// For the progress line, where the plan has no better one.
std::string title_of(PassKind kind) {
  switch (kind) {
    case PassKind::kNsys: return "nsys trace";
    case PassKind::kNsysExport: return "nsys export";
    case PassKind::kNcu: return "ncu counters";
    case PassKind::kNcuExportRaw:
    case PassKind::kNcuExportDetails: return "ncu export";
    case PassKind::kCollector: return "collector trace";
    default: return std::string(key_of(kind));
  }
}

// nsys/cmd.txt, one line per command.
void note_command(const Bundle& bundle, const Pass& pass) {
  const fs::path name = fs::path(folder_of(pass.kind)) / "cmd.txt";
  std::string text;
  if (std::ifstream before(bundle.path() / name); before) text.assign(std::istreambuf_iterator<char>(before), {});
  bundle.write(
      name,
      text + (by_collector(pass) || pass.kind == PassKind::kCalibration ? shell_command(pass) : shell_quoted(pass.process.argv)) + "\n");
}

PassOutcome outcome_of(const ProcessResult& result) {
  if (result.interrupted) return PassOutcome::kInterrupted;
  if (result.timed_out) return PassOutcome::kTimeout;
  if (result.had_enough) return PassOutcome::kOk;
  return result.exit_status == 0 ? PassOutcome::kOk : PassOutcome::kFailed;
}

void make_folders(const Bundle& bundle, const Pass& pass) {
  std::error_code ignored;  // if it cannot be made, the pass says so
  for (const auto& output : pass.outputs)
    fs::create_directories(bundle.path() / (by_collector(pass) ? output : output.parent_path()), ignored);
}

std::vector<std::string> outputs_there(const Bundle& bundle, const Pass& pass) {
  std::vector<std::string> there;
  for (const auto& output : pass.outputs)
    if (fs::exists(bundle.path() / output)) there.push_back(output.generic_string());
  return there;
}

bool is_output(const Bundle& bundle, const Pass& pass, const fs::path& file) {
  return std::any_of(pass.outputs.begin(), pass.outputs.end(), [&](const fs::path& output) { return bundle.path() / output == file; });
}

}  // namespace

void PassRunner::keep_time(const Plan& plan) {
  time_ = TimeBudget(plan);
  planned_ = plan.passes.size();
}

void PassRunner::prepare(Pass& pass) const {
  auto& process = pass.process;
  const std::string name(key_of(pass.kind));
  if (process.stdout_log.empty()) process.stdout_log = bundle_.path() / "logs" / (name + ".stdout.log");
  if (process.stderr_log.empty()) process.stderr_log = bundle_.path() / "logs" / (name + ".stderr.log");
  process.forward_output = shows_output(pass.kind, echo_) && !is_output(bundle_, pass, process.stdout_log);
  process.hide_chatter = echo_ == Echo::kWorkload;
  if (process.label.empty()) process.label = title_of(pass.kind);
  if (planned_ > 0) process.label = fmt::format("[{}/{}] {}", records_.size() + 1, std::max(planned_, records_.size() + 1), process.label);
  process.expected_s = time_.expected_s(pass);
  make_folders(bundle_, pass);
}

std::optional<ProcessResult> PassRunner::run(Pass pass) {
  if (Interrupts::signal() != 0) verdict_.interrupted(Interrupts::signal());
  if (verdict_.stopped() && !pass.even_if_stopped) {
    skip(pass, "an earlier pass was ended early");
    return std::nullopt;
  }
  if (const auto why = time_.refusal(pass)) {
    skip(pass, *why);
    return std::nullopt;
  }
  prepare(pass);
  auto& process = pass.process;
  // A standard output that is itself a result (ncu's CSV) appears whole or not at all.
  const fs::path result_file = is_output(bundle_, pass, process.stdout_log) ? process.stdout_log : fs::path();
  if (!result_file.empty()) process.stdout_log += ".partial";
  note_command(bundle_, pass);
  records_.push_back({pass.kind, process.argv, {}, 0, PassOutcome::kFailed, {}, {}});
  const auto result = launch(pass);
  if (!result) return std::nullopt;
  if (!result_file.empty()) {
    std::error_code ignored;
    const bool whole = outcome_of(*result) == PassOutcome::kOk && result->log_error.empty();
    whole ? fs::rename(process.stdout_log, result_file, ignored) : (void)fs::remove(process.stdout_log, ignored);
  }
  auto& record = records_.back();
  record.exit_status = result->exit_status;
  record.duration_ns = result->duration_ns;
  record.outcome = outcome_of(*result);
  record.outputs = outputs_there(bundle_, pass);
  time_.take(pass, static_cast<double>(result->duration_ns) * 1e-9);
  judge(pass, *result);
  return result;
}

std::optional<ProcessResult> PassRunner::launch(const Pass& pass) {
  const bool sampling = pass.sample_power && sampler_ != nullptr;
  std::optional<ProcessResult> result;
  if (sampling) sampler_->begin();
  try {
    result = launcher_.launch(pass.process);
  } catch (const Error& error) {
    records_.back().detail = error.message;
    if (!pass.optional) verdict_.add(error);
  }
  if (sampling) power_ = sampler_->end();
  return result;
}

void PassRunner::judge(const Pass& pass, const ProcessResult& result) {
  std::string& detail = records_.back().detail;
  if (!result.leftovers_killed.empty()) detail = fmt::format("ended what outlived it: {}", fmt::join(result.leftovers_killed, ", "));
  if (result.had_enough) detail = "ended when its trace exceeded capture.max_size";
  const double timeout_s = pass.process.timeout_s;
  if (pass.optional && result.timed_out) detail = fmt::format("ended after {:.0f} s", timeout_s);
  if (!result.log_error.empty()) verdict_.add(Code::kLogCutShort, {free_space_of(pass.process.stdout_log)}, result.log_error);
  if (result.interrupted) verdict_.interrupted(result.interrupt_signal);
  if (!pass.optional && result.timed_out)
    verdict_.add(Code::kPassTimeout, {std::string(key_of(pass.kind)), fmt::format("{}", timeout_s), timeout_key(pass.kind),
                                      fmt::format("{:.0f}", timeout_s * 4)});
}

void PassRunner::skip(const Pass& pass, const Remark& why) {
  if (why.code == Code::kNoTimeLeft) time_.leave_out(pass);
  skip(pass, text_of(why));
}

void PassRunner::skip(const Pass& pass, const std::string& why) {
  time_.forget(pass);
  records_.push_back({pass.kind, pass.process.argv, {}, 0, PassOutcome::kSkipped, why, {}});
}

void run_step(Step& step, PassRunner& runner) {
  while (const auto pass = step.next()) {
    const auto result = runner.run(*pass);
    step.take(*pass, result ? &*result : nullptr, runner.last());
  }
  step.finish();
}

bool ended_well(const ProcessResult* result) {
  return result != nullptr && result->exit_status == 0 && !result->timed_out && !result->interrupted;
}

std::string timeout_key(PassKind pass) {
  switch (pass) {
    case PassKind::kNcu:
    case PassKind::kStageCounters:
    case PassKind::kKernelCounters: return "ncu.timeout_s";
    case PassKind::kNcuExportRaw:
    case PassKind::kNcuExportDetails: return "ncu.export_timeout_s";
    case PassKind::kNsysExport:
    case PassKind::kNsysRepeatExport:
    case PassKind::kOperatorsExport: return "nsys.export_timeout_s";
    default: return "nsys.timeout_s";
  }
}

std::vector<fs::path> collector_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_regular_file() && entry.path().filename() != "cmd.txt") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void move_file(const fs::path& from, const fs::path& to) {
  std::error_code failure;
  fs::create_directories(to.parent_path(), failure);
  fs::rename(from, to, failure);
  if (!failure) return;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, failure);
  if (failure) {
    std::error_code ignored;
    fs::remove(to, ignored);
    throw Error(ErrorKind::kOutput, fmt::format("cannot move into the bundle: {}", failure.message()),
                fmt::format("{} → {} ({})", from.string(), to.string(), free_space_of(to)),
                "free some space, then: nl-stage import --nsys " + from.string());
  }
  fs::remove(from, failure);
}

PowerSource open_power_source(const Config& config, const Toolset& tools, Verdict& verdict) {
  const auto wanted = choice<EnergyReading>(config.energy.enabled);
  if (wanted == EnergyReading::kOff) return {nullptr, "switched off (energy.enabled)"};
  std::string trouble = tools.gpu_trouble;
  std::unique_ptr<PowerMeter> meter = tools.nvml ? open_nvml_meter(*tools.nvml, trouble) : nullptr;
  if (meter) return {std::make_unique<PowerSampler>(std::move(meter), config.energy.interval_ms), ""};
  const std::string note = "NVML does not answer" + (trouble.empty() ? "" : ": " + trouble);
  if (wanted == EnergyReading::kOn) verdict.add(Code::kMetersSilent, {note});
  return {nullptr, note};
}

}  // namespace nl::orchestrator
