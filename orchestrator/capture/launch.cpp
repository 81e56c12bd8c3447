#include "orchestrator/capture/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "orchestrator/process/interrupts.h"
#include "orchestrator/capture/launch_nsys.h"
#include "orchestrator/capture/perturbation_passes.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

// "nsys-export" → nsys/cmd.txt, one line per command.
void note_command(const Bundle& bundle, const Pass& pass) {
  const std::string tool = pass.name.substr(0, pass.name.find('-'));
  const fs::path file = bundle.path() / tool / "cmd.txt";
  std::string text;
  if (std::ifstream before(file); before) text.assign(std::istreambuf_iterator<char>(before), {});
  // The collector is all environment: its argv is the workload's own.
  const bool by_environment = tool == "collector" || tool == "counters";
  bundle.write(fs::path(tool) / "cmd.txt",
               text + (by_environment ? shell_command(pass) : shell_quoted(pass.process.argv)) + "\n");
}

std::string outcome_word(const ProcessResult& result) {
  if (result.interrupted) return "interrupted";
  if (result.timed_out) return "timeout";
  return result.exit_status == 0 ? "ok" : "failed";
}

std::vector<std::string> outputs_there(const Bundle& bundle, const Pass& pass) {
  std::vector<std::string> there;
  for (const auto& output : pass.outputs)
    if (fs::exists(bundle.path() / output)) there.push_back(output.generic_string());
  return there;
}

bool is_output(const Bundle& bundle, const Pass& pass, const fs::path& file) {
  return std::any_of(pass.outputs.begin(), pass.outputs.end(),
                     [&](const fs::path& output) { return bundle.path() / output == file; });
}

Capture launch_collector(const Pass& pass, const Config& config, const Bundle& bundle, PassRunner& passes,
                         Verdict& verdict) {
  Capture capture;
  const auto result = passes.run(pass);
  if (!result) return capture;
  capture.workload_exit = result->exit_status;
  capture.collector_files = collector_files(bundle.path() / "collector");
  judge_workload(pass, *result, config, passes.last(), verdict);
  if (capture.collector_files.empty() && !verdict.failure())
    verdict.add(ErrorKind::kCapture, "the collector recorded nothing", "collector/",
                "the workload opened no NVTX range, or NVTX is compiled out of it");
  return capture;
}

}  // namespace

std::optional<ProcessResult> PassRunner::run(Pass pass, bool always) {
  if (Interrupts::signal() != 0) verdict_.interrupted(Interrupts::signal());
  if (verdict_.stopped() && !always) {
    skip(pass, "an earlier pass was ended early");
    return std::nullopt;
  }
  auto& process = pass.process;
  if (process.stdout_log.empty()) process.stdout_log = bundle_.path() / "logs" / (pass.name + ".stdout.log");
  if (process.stderr_log.empty()) process.stderr_log = bundle_.path() / "logs" / (pass.name + ".stderr.log");
  const bool runs_workload = pass.name == "nsys" || pass.name == "ncu" || pass.name == "collector" ||
                             pass.name.rfind("counters-", 0) == 0;
  process.forward_output = runs_workload && !quiet_;
  if (process.label.empty()) process.label = pass.name;
  // A standard output that is itself a result (ncu's CSV) appears whole or not at all.
  const fs::path result_file = is_output(bundle_, pass, process.stdout_log) ? process.stdout_log : fs::path();
  if (!result_file.empty()) process.stdout_log += ".partial";
  note_command(bundle_, pass);
  records_.push_back({pass.name, process.argv, {}, 0, "failed", {}, {}});
  const auto result = launch(pass);
  if (!result) return std::nullopt;
  if (!result_file.empty()) {
    std::error_code ignored;
    const bool whole = outcome_word(*result) == "ok" && result->log_error.empty();
    whole ? fs::rename(process.stdout_log, result_file, ignored) : (void)fs::remove(process.stdout_log, ignored);
  }
  auto& record = records_.back();
  record.exit_status = result->exit_status;
  record.duration_ns = result->duration_ns;
  record.outcome = outcome_word(*result);
  record.outputs = outputs_there(bundle_, pass);
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
  if (!result.leftovers_killed.empty())
    detail = fmt::format("ended what outlived it: {}", fmt::join(result.leftovers_killed, ", "));
  const double timeout_s = pass.process.timeout_s;
  if (pass.optional && result.timed_out) detail = fmt::format("ended after {:.0f} s", timeout_s);
  if (!result.log_error.empty())
    verdict_.add(ErrorKind::kOutput, "a log could not be written to its end", result.log_error,
                 fmt::format("free some space ({})", free_space_of(pass.process.stdout_log)));
  if (result.interrupted) verdict_.interrupted(result.interrupt_signal);
  if (!pass.optional && result.timed_out)
    verdict_.add(ErrorKind::kTimeout, fmt::format("the {} pass was ended after {} s", pass.name, timeout_s), pass.name,
                 fmt::format("raise it: --set {}={:.0f}", timeout_key(pass.name), timeout_s * 4));
}

void PassRunner::skip(const Pass& pass, const std::string& why) {
  records_.push_back({pass.name, pass.process.argv, {}, 0, "skipped", why, {}});
}

Capture launch(const Plan& plan, const Config& config, const Toolset& tools, const Bundle& bundle, PassRunner& passes,
               Verdict& verdict) {
  for (const auto& pass : plan.passes) {
    if (pass.name != "nsys" && pass.name != "collector") continue;
    RepeatedPasses repeats(plan, config, bundle, passes, verdict);
    repeats.run_before();
    Capture capture = pass.name == "nsys" ? launch_nsys(pass, config, *tools.nsys, bundle, passes, verdict)
                                          : launch_collector(pass, config, bundle, passes, verdict);
    capture.power = passes.take_power();
    capture.repeats = repeats.run_after(capture);
    return capture;
  }
  throw Error(ErrorKind::kTool, "there is nothing to capture with", "neither nsys nor the collector was found",
              "run `nl-stage doctor` to see what was looked for");
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

}  // namespace nl::orchestrator
