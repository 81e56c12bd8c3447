#pragma once

#include <deque>

#include "analysis/staging/found/found.h"
#include "orchestrator/capture/capture.h"
#include "orchestrator/capture/kernels_so_far.h"
#include "orchestrator/capture/ncu_diagnosis.h"
#include "orchestrator/capture/pass_runner.h"

namespace nl::orchestrator {

// The passes of the plan that count, over the kernels that the trace ranks first. Where they are not begun, or do not
// measure all of them, capture.counters_missing says why, and the verdict where it is a problem.
void count(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, Capture& capture);

// What the two meters share: passes that wait, and what is known of the kernels by now.
class CountStep : public Step {
 public:
  CountStep(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, KernelsSoFar& kernels, Capture& capture)
      : plan_(plan), passes_(passes), runner_(runner), kernels_(kernels), capture_(capture),
        unmarked_(analysis::has_found_stages(capture.trace)) {}

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

// ncu on the chosen kernels, its exports, and once more in the way likeliest to work where it missed some.
class NcuStep : public CountStep {
 public:
  NcuStep(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, KernelsSoFar& kernels, Capture& capture);
  void take(const Pass& pass, const ProcessResult* result, PassRecord& record) override;
  void finish() override;

 private:
  void attempt(const std::vector<const KernelEntry*>& kernels);
  void take_profile(const Pass& pass, const ProcessResult& result, PassRecord& record);
  void take_export(const Pass& pass, const ProcessResult* result);
  void read_export();
  void conclude();  // one try: read it, and try again where that may help
  void set_aside_first() const;

  NcuRequest request_;
  NcuDiagnosis last_;
  std::filesystem::path best_export_;
  int tries_ = 0;
};

// The collector's passes for counters (CUPTI): the stages as a whole, then the chosen kernels inside the stages, and
// wherever they are launched where none was met there.
class CuptiStep : public CountStep {
 public:
  CuptiStep(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, KernelsSoFar& kernels, Capture& capture);
  void take(const Pass& pass, const ProcessResult* result, PassRecord& record) override;
  void finish() override;

 private:
  void judge(const Pass& pass, const ProcessResult& result, PassRecord& record);
  void take_stages(const CounterReport& report);
  void take_kernels(const CounterReport& report);
  void leave_out(const Pass& pass);
  void count_kernels();
  std::size_t write_names();
  void blame(const Remark& trouble);

  CounterRequest request_;
  std::optional<Remark> trouble_;  // why nothing was counted
  bool failed_ = false;            // the workload, in the latest pass
  bool unreadable_ = false;        // a file of the collector's, and that was said
  bool measured_ = false;          // anything
};

}  // namespace nl::orchestrator
