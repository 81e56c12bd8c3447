#include "orchestrator/capture/count.h"

#include <fmt/format.h>

#include "analysis/figures/counters/join_counters.h"
#include "analysis/figures/counters/ncu_match.h"
#include "model/words.h"
#include "orchestrator/config/knowledge.h"

namespace nl::orchestrator {
namespace {

// Why the passes that count are not begun; nothing where they are.
std::optional<Remark> why_not(const Plan& plan, std::span<const Pass> passes, const KernelsSoFar& kernels, PassRunner& runner) {
  const Verdict& verdict = runner.verdict();
  if (verdict.failure() == ErrorKind::kWorkload) return Remark{Code::kCountersAfterFailure};
  if (verdict.stopped()) return Remark{Code::kCountersNotReached};
  if (const auto late = runner.time().refusal(passes.front())) return late;
  if (kernels.any()) return std::nullopt;
  // CUPTI counts whole stages too.
  if (kernels.only_graphs() && plan.meter == Meter::kCupti) return std::nullopt;
  return kernels.only_graphs()
             ? Remark{Code::kNoKernelToMeasure,
                      {"CUDA graphs were captured at graph level (kernels inside not visible)", fix_of({Code::kGraphsWithoutKernels})}}
             : Remark{Code::kNoKernelToMeasure, {"the workload ran none on the GPU", fix_of({Code::kNoKernels})}};
}

// A workload without kernels is a problem where there is a GPU that it should have used.
void leave_out(const Plan& plan, std::span<const Pass> passes, const Remark& why, const KernelsSoFar& kernels, PassRunner& runner,
               Capture& capture) {
  const bool problem =
      why.code == Code::kNoKernelToMeasure && (kernels.only_graphs() || !plan.tools.gpus.empty()) && !runner.verdict().failure();
  if (problem) runner.verdict().add(why);
  for (const Pass& pass : passes) runner.skip(pass, why);
  capture.counters_missing = why;
}

}  // namespace

void count(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, Capture& capture) {
  const bool lost = plan.tracer == Tracer::kCupti && !capture.trace.has_kernel_data;  // and that was said
  if (plan.meter == Meter::kNone || lost) {
    capture.counters_missing = choose_counters(plan.config, plan.tools).missing;
    const bool wanted = capture.counters_missing && capture.counters_missing->code == Code::kToolNotFound;
    if (wanted && KernelsSoFar(capture.trace, analysis_options(plan.config)).any() && !runner.verdict().failure())
      runner.verdict().add(*capture.counters_missing);
    return;
  }
  KernelsSoFar kernels(capture.trace, analysis_options(plan.config));
  if (const auto why = why_not(plan, passes, kernels, runner)) return leave_out(plan, passes, *why, kernels, runner, capture);
  // Where NVML is missing the plan knew of no GPU; the trace has kernels, so there is one.
  std::erase_if(capture.adaptations, [](const Remark& remark) { return remark.code == Code::kCountersIfKernels; });
  try {
    const auto step = (plan.meter == Meter::kNcu ? ncu_step : cupti_step)({plan, passes, runner, kernels, capture});
    run_step(*step, runner);
  } catch (const Error& error) {  // a full disk, say: the trace is worth a bundle even so
    runner.verdict().add(error);
    capture.counters_missing = Remark{Code::kCountersFailed, {error.message}};
  }
}

KernelsSoFar::KernelsSoFar(const Trace& trace, const analysis::AnalysisOptions& options)
    : trace_(trace), kernels_(analysis::list_kernels(analysis::StagedTrace(trace, options.warmup), options.kernels)) {}

std::vector<const KernelEntry*> KernelsSoFar::chosen() const {
  std::vector<const KernelEntry*> out;
  if (kernels_)
    for (const auto& kernel : *kernels_)
      if (kernel.selected) out.push_back(&kernel);
  return out;
}

std::vector<const KernelEntry*> KernelsSoFar::unmeasured() const {
  auto missing = chosen();
  std::erase_if(missing, [](const KernelEntry* kernel) { return !kernel->ncu.empty(); });
  return missing;
}

std::size_t KernelsSoFar::join(const std::vector<NcuReport>& reports, Meter meter) {
  if (!any() || reports.empty()) return 0;
  for (auto& kernel : *kernels_) kernel.ncu.clear();
  return analysis::match_ncu(analysis::merged(reports), trace_, *kernels_, meter).matched;
}

std::string names_of(const std::vector<const KernelEntry*>& kernels) {
  std::string text;
  for (std::size_t i = 0; i < kernels.size() && i < 5; ++i)
    text += (i > 0 ? ", " : "") + (kernels[i]->short_name.empty() ? kernels[i]->name : kernels[i]->short_name);
  return kernels.size() > 5 ? text + fmt::format(" and {} more", kernels.size() - 5) : text;
}

}  // namespace nl::orchestrator
