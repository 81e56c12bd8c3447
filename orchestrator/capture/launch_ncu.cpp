#include "orchestrator/capture/launch_ncu.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "analysis/counters/ncu_match.h"
#include "model/notes.h"
#include "orchestrator/capture/ncu_diagnosis.h"
#include "orchestrator/capture/selected_kernels.h"
#include "parsers/ncu/csv.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

void note_all(Run& run, const std::string& why) {
  for (auto* kernel : unmeasured_kernels(run)) kernel->ncu_note = why;
}

std::string names_of(const std::vector<KernelEntry*>& kernels) {
  std::string text;
  for (std::size_t i = 0; i < kernels.size() && i < 5; ++i)
    text += (i > 0 ? ", " : "") + (kernels[i]->short_name.empty() ? kernels[i]->name : kernels[i]->short_name);
  return kernels.size() > 5 ? text + fmt::format(" and {} more", kernels.size() - 5) : text;
}

class NcuLaunches {
 public:
  NcuLaunches(const Config& config, const Tool& ncu, const Trace& trace, const Bundle& bundle, PassRunner& passes,
              Verdict& verdict, Run& run)
      : config_(config), ncu_(ncu), trace_(trace), bundle_(bundle), passes_(passes), verdict_(verdict), run_(run) {}

  void run() {
    request_.kernel_name_base = config_.ncu.kernel_name_base;
    choose(false);
    auto first = attempt();
    if (!first) return finish({});
    merge_into_run();
    const bool missing = !unmeasured_kernels(run_).empty();
    const bool again = first->retry_wider || first->retry_same || (first->trouble == NcuTrouble::kNone && missing);
    if (!again || !missing || verdict_.stopped()) return finish(*first);
    set_aside_first();
    choose(true);
    if (!first->retry_same) request_.attempt = 2;
    if (first->trouble == NcuTrouble::kCountersBusy) std::this_thread::sleep_for(std::chrono::seconds(2));
    auto second = attempt();
    merge_into_run();
    finish(second ? *second : *first);
  }

 private:
  void choose(bool only_missing) {
    request_.kernels.clear();
    for (const auto* kernel : only_missing ? unmeasured_kernels(run_) : selected_kernels(run_))
      request_.kernels.push_back({kernel->name, kernel->mangled_name, kernel->short_name});
  }

  // One ncu run and its exports; nothing where it was not started.
  std::optional<NcuDiagnosis> attempt() {
    ++attempts_;
    Pass pass = plan_ncu(config_, ncu_, bundle_.path(), request_, run_.provenance.adaptations);
    pass.process.not_found = ErrorKind::kTool;
    pass.process.profiler = true;
    if (attempts_ > 1) {
      pass.process.stdout_log = bundle_.path() / "logs" / "ncu-2.stdout.log";
      pass.process.stderr_log = bundle_.path() / "logs" / "ncu-2.stderr.log";
    }
    const auto result = passes_.run(pass);
    if (!result) return std::nullopt;
    const bool there = fs::exists(bundle_.path() / pass.outputs.at(0));
    auto diagnosis = diagnose_ncu(*result, {pass.process.stdout_log, pass.process.stderr_log}, there);
    passes_.last().detail = diagnosis.what;
    if (!there && passes_.last().outcome == "ok") passes_.last().outcome = "failed";
    if (there) read_exports();
    return diagnosis;
  }

  void read_exports() {
    fs::path best;
    for (auto& pass : plan_ncu_exports(config_, ncu_, bundle_.path(), request_)) {
      const fs::path csv = bundle_.path() / pass.outputs.at(0);
      pass.process.not_found = ErrorKind::kTool;
      const auto result = passes_.run(pass, true);
      if (result && (result->interrupted || result->timed_out)) break;
      const bool good = result && fs::exists(csv);
      if (good && (best.empty() || csv.filename() == "raw.csv")) best = csv;
      if (result && !good)
        verdict_.add(ErrorKind::kTool, fmt::format("{} failed: ncu's report could not be read", pass.name),
                     result->stderr_text.substr(0, 300),
                     fmt::format("the report is kept: nl-stage import --ncu {}",
                                 (bundle_.path() / "ncu/profile.ncu-rep").string()));
    }
    if (best.empty()) return;
    try {
      reports_.push_back(parsers::read_ncu_csv(best));
    } catch (const Error& error) {
      verdict_.add(error);
    }
  }

  // Both attempts are matched together, so that neither forgets the other's launches.
  void merge_into_run() {
    if (reports_.empty()) return;
    NcuReport all = reports_[0];
    for (std::size_t i = 1; i < reports_.size(); ++i) {
      all.launches.insert(all.launches.end(), reports_[i].launches.begin(), reports_[i].launches.end());
      for (const auto& [reason, rows] : reports_[i].rows_damaged) all.rows_damaged[reason] += rows;
    }
    for (auto* kernel : selected_kernels(run_)) {
      kernel->ncu.clear();
      kernel->ncu_note.clear();
    }
    run_.ncu_rows_damaged.clear();
    match_ = analysis::match_ncu(all, trace_, run_);
  }

  void set_aside_first() {
    std::error_code ignored;
    for (const char* name : {"profile.ncu-rep", "raw.csv", "details.csv"}) {
      const fs::path file = bundle_.path() / "ncu" / name;
      if (fs::exists(file)) fs::rename(file, file.parent_path() / ("first-" + std::string(name)), ignored);
    }
  }

  void finish(const NcuDiagnosis& last) {
    const auto missing = unmeasured_kernels(run_);
    const auto all = selected_kernels(run_);
    if (last.application_failed && missing.empty())
      verdict_.add(ErrorKind::kCapture, "the workload ended with an error under ncu, after its kernels were measured",
                   "ncu", "see logs/ncu.stderr.log");
    if (missing.empty() || verdict_.stopped()) return note_all(run_, "the run was ended before ncu came to it");
    const bool none = missing.size() == all.size();
    const std::string why =
        !last.what.empty() ? last.what : "no launch of it inside the chosen ranges of the second run";
    note_all(run_, why);
    verdict_.add(last.trouble == NcuTrouble::kPermission ? ErrorKind::kTool : ErrorKind::kCapture,
                 none && !last.what.empty()
                     ? last.what
                     : fmt::format("ncu measured {} of the {} chosen kernels", all.size() - missing.size(), all.size()),
                 fmt::format("missing: {}{}", names_of(missing), attempts_ > 1 ? "; a second try did not help" : ""),
                 !last.fix.empty() ? last.fix
                                    : "the second run may launch other kernels than the first: fix seeds and shapes; "
                                      "ncu/cmd.txt has the filters");
  }

  const Config& config_;
  const Tool& ncu_;
  const Trace& trace_;
  const Bundle& bundle_;
  PassRunner& passes_;
  Verdict& verdict_;
  Run& run_;
  NcuRequest request_;
  analysis::NcuMatch match_;
  std::vector<NcuReport> reports_;
  int attempts_ = 0;
};

}  // namespace

void launch_ncu(const Config& config, const Toolset& tools, const Trace& trace, const Bundle& bundle,
                PassRunner& passes, Verdict& verdict, Run& run) {
  if (!config.ncu.enabled) return note_all(run, "ncu is switched off in this configuration (ncu.enabled)");
  if (only_whole_graphs(trace, run) && !verdict.failure())
    return verdict.add(ErrorKind::kCapture, "all of the GPU's work is inside CUDA graphs that were traced as wholes, so ncu had no kernel to measure",
                       "the trace", kTraceNodes);
  if (!run.kernels || run.kernels->empty()) {
    if (!tools.gpus.empty() && !verdict.failure())
      verdict.add(ErrorKind::kCapture, "the workload ran no kernel on the GPU, so there was nothing for ncu to measure",
                  "the trace", "check that the workload uses the GPU");
    return;
  }
  if (selected_kernels(run).empty())
    return verdict.add(
        ErrorKind::kCapture, "no kernel ran inside the chosen stages, so ncu was not started",
        fmt::format("stages: {}", fmt::join(config.run.stages, ", ")),
        "name ranges that the workload opens: --set run.stages=[…], or mark them with NVTX in the domain LLM");
  if (verdict.failure() == ErrorKind::kWorkload)
    return note_all(run, "ncu was not started, because the workload failed in the traced pass");
  if (verdict.stopped()) return note_all(run, "the run was ended before ncu came to it");
  if (!tools.ncu) {
    note_all(run, "Nsight Compute was not found");
    return verdict.add(ErrorKind::kCapture, "Nsight Compute (ncu) was not found: no kernel was measured", "ncu",
                       "`nl-stage doctor` says where it was looked for; --set ncu.enabled=false runs without");
  }
  // Where NVML is missing the plan knew of no GPU; the trace has kernels, so there is one.
  std::erase_if(run.provenance.adaptations,
                [](const std::string& note) { return note.find("the ncu pass is left out") != std::string::npos; });
  NcuLaunches(config, *tools.ncu, trace, bundle, passes, verdict, run).run();
  run.software.ncu_version = tools.ncu->version.text();
  const bool measured = std::any_of(run.kernels->begin(), run.kernels->end(), [](const KernelEntry& kernel) { return !kernel.ncu.empty(); });
  if (measured) run.provenance.captured_by = with_ncu(run.provenance.captured_by);
}

}  // namespace nl::orchestrator
