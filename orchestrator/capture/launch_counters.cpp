#include "orchestrator/capture/launch_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/counters/counters.h"
#include "analysis/counters/ncu_match.h"
#include "collector/counters/peer_kernels.h"
#include "model/notes.h"
#include "orchestrator/capture/selected_kernels.h"
#include "parsers/collector/counters.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

constexpr std::string_view kNotCounted = "counters are not measured";
constexpr const char* kMendPermission =
    "run as root or with CAP_SYS_ADMIN, or once: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
    "/etc/modprobe.d/nvidia-profiling.conf, then reboot; --set capture.counters=off runs without";
constexpr const char* kOnlyInGraphs = "runs only inside CUDA graphs, which CUPTI does not replay; ncu does";
constexpr const char* kWithPeers = "talks to other GPUs: to hold it for counting would keep its peers waiting";
constexpr const char* kEnded = "the run was ended before its counters were measured";

// Why CUPTI cannot count it, whatever the pass does; empty where it can.
std::string never_counted(const KernelEntry& kernel) {
  if (kernel.time.count > 0 && kernel.graph_calls == kernel.time.count) return kOnlyInGraphs;
  if (collector::talks_to_peers(kernel.symbol().c_str())) return kWithPeers;
  return {};
}

void note_unmeasured(Run& run, const std::string& why) {
  for (auto* kernel : unmeasured_kernels(run)) {
    const std::string never = never_counted(*kernel);
    kernel->ncu_note = never.empty() ? why : never;
  }
}

class CounterLaunches {
 public:
  CounterLaunches(const Config& config, const Toolset& tools, const Trace& trace, const Bundle& bundle,
                  PassRunner& passes, Verdict& verdict, Run& run)
      : config_(config), tools_(tools), trace_(trace), bundle_(bundle), passes_(passes), verdict_(verdict), run_(run) {}

  void run() {
    count_stages();
    if (trouble_.empty()) count_kernels();
    finish();
    if (measured_) run_.provenance.captured_by = with_cupti_counters(run_.provenance.captured_by);
  }

 private:
  void count_stages() {
    const auto pass = plan_stage_counters(config_, tools_, bundle_.path());
    if (!pass) return;
    const auto report = attempt(*pass);
    if (!report) return;
    if (!report->windows.empty()) {
      measured_ = true;
      return;
    }
    if (failed_) return;  // and that was said
    trouble_ = counter_trouble(report->notes);
    if (trouble_.empty() && !verdict_.stopped())
      verdict_.add(ErrorKind::kCapture, "no window of the stages was counted",
                   fmt::format("stages: {}", fmt::join(config_.run.stages, ", ")),
                   "mark them as push/pop ranges of the domain LLM on the threads that launch, or --set "
                   "capture.stage_counters=false");
  }

  // Where none of them was launched inside the ranges, as ncu: once more, wherever they are launched.
  void count_kernels() {
    CounterRequest request;
    request.kernels = write_names();
    request.anywhere = config_.run.stages.empty();
    if (*request.kernels == 0) return;
    auto report = attempt(plan_kernel_counters(config_, tools_, bundle_.path(), request));
    if (!report) return;
    join(*report);
    trouble_ = report->kernels.launches.empty() ? counter_trouble(report->notes) : "";
    if (!report->kernels.launches.empty() || !trouble_.empty() || request.anywhere || failed_ || verdict_.stopped()) return;
    run_.provenance.adaptations.push_back(
        "no chosen kernel was launched inside the stages' ranges of the counter pass: second try, wherever it is launched");
    request.anywhere = true;
    request.attempt = 2;
    anywhere_ = true;
    report = attempt(plan_kernel_counters(config_, tools_, bundle_.path(), request));
    if (!report) return;
    join(*report);
    if (report->kernels.launches.empty() && !failed_) trouble_ = counter_trouble(report->notes);
  }

  // The names that can be measured, for the collector; how many.
  std::size_t write_names() {
    std::set<std::string> names;
    for (const auto* kernel : selected_kernels(run_))
      if (never_counted(*kernel).empty()) names.insert(kernel->symbol());
    std::string lines;
    for (const auto& name : names) lines += name + "\n";
    if (!names.empty()) bundle_.write(kCounterKernels, lines);
    return names.size();
  }

  // One run of the workload and what the collector counted in it; nothing where it was not started.
  std::optional<CounterReport> attempt(const Pass& pass) {
    const fs::path folder = bundle_.path() / pass.outputs.at(0);
    std::error_code ignored;  // if it cannot be made, the collector says so
    fs::create_directories(folder, ignored);
    const auto result = passes_.run(pass);
    if (!result) return std::nullopt;
    judge(*result, pass);
    try {
      CounterReport report = read(folder);
      analysis::apply_stage_counters(report, run_);  // and its notes
      passes_.last().detail = said(passes_.last().detail, counter_trouble(report.notes));
      return report;
    } catch (const Error& error) {
      verdict_.add(error);
      return std::nullopt;
    }
  }

  static CounterReport read(const fs::path& folder) {
    const auto files = collector_files(folder);
    if (!files.empty()) return parsers::read_collector_counters(files);
    CounterReport nothing;
    nothing.notes.push_back(fmt::format("{}: the collector wrote no file", kNotCounted));
    return nothing;
  }

  static std::string said(const std::string& before, const std::string& more) {
    return before.empty() || more.empty() ? before + more : before + "; " + more;
  }

  // It ran well under the trace: that it fails here is the counters' doing, and what they gave until then is kept.
  void judge(const ProcessResult& result, const Pass& pass) {
    failed_ = result.exit_status != 0 && !result.timed_out && !result.interrupted;
    if (!failed_) return;
    passes_.last().detail = fmt::format("the workload ended with status {}", result.exit_status);
    verdict_.add(ErrorKind::kCapture,
                 fmt::format("the workload ended with status {} in the {} pass", result.exit_status, pass.name),
                 (fs::path("logs") / pass.process.stderr_log.filename()).string(),
                 "the trace is whole; --set capture.counters=off runs without counters");
  }

  void join(const CounterReport& report) {
    if (report.kernels.launches.empty()) return;
    const analysis::NcuMatch match = analysis::match_ncu(report.kernels, trace_, run_, Meter::kCupti);
    measured_ = measured_ || match.matched > 0;
    if (!match.unmatched_launches.empty())
      run_.import_stats.notes.push_back(fmt::format("{} counted launches match no kernel of the trace, the first: {}",
                                                    match.unmatched_launches.size(), match.unmatched_launches[0]));
  }

  void finish() {
    if (verdict_.stopped()) return note_unmeasured(run_, kEnded);
    if (!trouble_.empty()) {
      const bool denied = is_permission_trouble(trouble_);
      note_unmeasured(run_, trouble_);
      return verdict_.add(denied ? ErrorKind::kTool : ErrorKind::kCapture,
                          measured_ ? "the kernels' counters could not be measured (CUPTI), the stages' were"
                                    : "the GPU's counters could not be measured (CUPTI)",
                          trouble_,
                          denied ? kMendPermission : "--set capture.counters=off runs without; ncu would measure them too");
    }
    const auto unmeasured = unmeasured_kernels(run_);
    const auto missing = std::count_if(unmeasured.begin(), unmeasured.end(), [](const auto* kernel) { return never_counted(*kernel).empty(); });
    note_unmeasured(run_, failed_     ? "the workload failed in the counter pass before it was measured"
                          : anywhere_ ? "no launch of it in the counter passes"
                                      : "no launch of it inside the chosen ranges of the counter pass");
    if (missing > 0 && !failed_)
      verdict_.add(ErrorKind::kCapture, fmt::format("{} of the {} chosen kernels were not counted", missing, selected_kernels(run_).size()),
                   "counters/kernels.txt",
                   "another run may launch other kernels than the first: fix seeds and shapes");
  }

  const Config& config_;
  const Toolset& tools_;
  const Trace& trace_;
  const Bundle& bundle_;
  PassRunner& passes_;
  Verdict& verdict_;
  Run& run_;
  std::string trouble_;    // why nothing was counted, by the collector's words
  bool failed_ = false;    // the workload, in the latest pass
  bool anywhere_ = false;  // the second try, outside of the ranges too
  bool measured_ = false;  // anything
};

}  // namespace

// "counters are not measured: why", or "another CUPTI client holds this process (…): counters are not measured. …"
std::string counter_trouble(const std::vector<std::string>& notes) {
  for (const auto& note : notes) {
    if (note.starts_with(fmt::format("{}: ", kNotCounted))) return note.substr(kNotCounted.size() + 2);
    if (note.find(kNotCounted) != std::string::npos) return note;
  }
  return {};
}

bool is_permission_trouble(const std::string& trouble) {
  return trouble.find("RestrictProfilingToAdminUsers") != std::string::npos;
}

void launch_counters(const Config& config, const Toolset& tools, const Trace& trace, const Bundle& bundle,
                     PassRunner& passes, Verdict& verdict, Run& run) {
  if (only_whole_graphs(trace, run)) {
    run.provenance.adaptations.push_back(
        fmt::format("all of the GPU's work is inside CUDA graphs that were traced as wholes: no kernel is counted ({})", kTraceNodes));
  } else if (!run.kernels || run.kernels->empty()) {
    if (!tools.gpus.empty() && !verdict.failure())
      verdict.add(ErrorKind::kCapture, "the workload ran no kernel on the GPU, so there was nothing to count", "the trace",
                  "check that the workload uses the GPU");
    return;
  }
  // Where NVML is missing the plan knew of no GPU; the trace has kernels, so there is one.
  std::erase_if(run.provenance.adaptations, [](const std::string& note) {
    return note.find("the counter passes are left out") != std::string::npos;
  });
  if (verdict.failure() == ErrorKind::kWorkload)
    return note_unmeasured(run, "its counters were not measured, because the workload failed in the traced pass");
  if (verdict.stopped()) return note_unmeasured(run, kEnded);
  try {
    CounterLaunches(config, tools, trace, bundle, passes, verdict, run).run();
  } catch (const Error& error) {  // a full disk, say: the trace is worth a bundle even so
    verdict.add(error);
    note_unmeasured(run, error.message);
  }
}

void judge_sampling(const Config& config, const Trace& trace, Verdict& verdict) {
  const auto look = [&](bool asked, bool there, std::string_view beginning, const char* what, const char* without) {
    if (!asked || there) return;
    for (const auto& note : trace.stats.notes) {
      const auto at = note.find(beginning);
      if (at == std::string::npos) continue;
      const std::string trouble = note.substr(at + beginning.size());
      const bool denied = is_permission_trouble(trouble);
      return verdict.add(denied ? ErrorKind::kTool : ErrorKind::kCapture, what, trouble,
                         denied ? kMendPermission : without);
    }
  };
  // Stalls come instead of activity where both are asked for; the plan says so.
  look(config.capture.sampling_us > 0 && config.capture.pc_sampling == 0, !trace.metric_series.empty(), "activity is not sampled: ",
       "the GPU's activity could not be sampled (CUPTI)", "--set capture.sampling_us=0 runs without");
  look(config.capture.pc_sampling > 0, !trace.stalls.empty(), "stalls are not sampled: ",
       "where warps stall could not be sampled (CUPTI)", "--set capture.pc_sampling=0 runs without");
}

void leave_out_counters(const std::string& why, Run& run) { note_unmeasured(run, why); }

}  // namespace nl::orchestrator
