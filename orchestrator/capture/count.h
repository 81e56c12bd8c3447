#pragma once

#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analyse.h"
#include "analysis/staging/found/found.h"
#include "model/codes.h"
#include "model/counters.h"
#include "model/run.h"
#include "model/trace.h"
#include "orchestrator/capture/capture.h"
#include "orchestrator/capture/pass_runner.h"

namespace nl::orchestrator {

// The passes of the plan that count, over the kernels that the trace ranks first. Where they are not begun, or do not
// measure all of them, capture.counters_missing says why, and the verdict where it is a problem.
void count(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, Capture& capture);

// What the trace says of kernels while passes are still to come: which of them matter, and which have no counters yet.
class KernelsSoFar {
 public:
  KernelsSoFar(const Trace& trace, const analysis::AnalysisOptions& options);

  bool any() const { return kernels_ && !kernels_->empty(); }
  // All of the GPU's work is inside CUDA graphs that were captured at graph level: there is no kernel to choose.
  bool only_graphs() const { return kernels_ && kernels_->empty() && !trace_.graph_runs.empty(); }
  std::vector<const KernelEntry*> chosen() const;
  std::vector<const KernelEntry*> unmeasured() const;  // of the chosen
  // Takes all that one meter has measured so far, in place of its earlier values. Returns how many of the launches are in the trace.
  std::size_t join(const std::vector<NcuReport>& reports, Meter meter);

 private:
  const Trace& trace_;
  std::optional<std::vector<KernelEntry>> kernels_;
};

// "a, b and 3 more"
std::string names_of(const std::vector<const KernelEntry*>& kernels);

// What the passes that count work on.
struct Counting {
  const Plan& plan;
  std::span<const Pass> passes;  // of the plan
  PassRunner& runner;
  KernelsSoFar& kernels;
  Capture& capture;
};

// What the two meters share: passes that wait, and what is known of the kernels by now.
class CountStep : public Step {
 public:
  explicit CountStep(const Counting& counting)
      : plan_(counting.plan), passes_(counting.passes), runner_(counting.runner), kernels_(counting.kernels), capture_(counting.capture),
        unmarked_(analysis::has_found_stages(capture_.trace)) {}

  std::optional<Pass> next() override {
    if (waiting_.empty()) return std::nullopt;
    Pass pass = std::move(waiting_.front());
    waiting_.pop_front();
    return pass;
  }

 protected:
  bool stopped() const { return runner_.verdict().stopped(); }

  const Plan& plan_;
  std::span<const Pass> passes_;  // of the plan
  PassRunner& runner_;
  KernelsSoFar& kernels_;
  Capture& capture_;
  const bool unmarked_;  // no range marks the stages
  std::deque<Pass> waiting_;
};

enum class Retry { kNo, kWider, kSame };  // what is likeliest to work

struct NcuDiagnosis {
  std::optional<Remark> trouble;      // nothing: a report is there
  std::vector<std::string> messages;  // ncu's own ==ERROR== and ==WARNING== lines, without the marks
  bool application_failed = false;    // "The application returned an error code (3)."
  Retry retry = Retry::kNo;
};

// Reads what ncu said in its logs: its exit status is 0 although it measured nothing.
NcuDiagnosis diagnose_ncu(const ProcessResult& result, const std::vector<std::filesystem::path>& logs, bool report_there);

// ncu on the chosen kernels, its exports, and once more in the way likeliest to work where it missed some.
std::unique_ptr<Step> ncu_step(const Counting& counting);

// The collector's passes for counters (CUPTI): the stages as a whole, then the chosen kernels inside the stages, and
// wherever they are launched where none was met there.
std::unique_ptr<Step> cupti_step(const Counting& counting);

}  // namespace nl::orchestrator
