#include <chrono>
#include <thread>

#include "model/words.h"
#include "orchestrator/capture/count.h"
#include "orchestrator/capture/trace_nsys.h"
#include "parsers/ncu/csv.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {

NcuStep::NcuStep(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, KernelsSoFar& kernels, Capture& capture)
    : CountStep(plan, passes, runner, kernels, capture) {
  request_.kernel_name_base = choice<KernelNameBase>(plan.config.ncu.kernel_name_base);
  request_.unmarked = unmarked_;
  attempt(kernels_.chosen());
}

void NcuStep::attempt(const std::vector<const KernelEntry*>& kernels) {
  ++tries_;
  best_export_.clear();
  request_.kernels.clear();
  for (const auto* kernel : kernels) request_.kernels.push_back({kernel->name, kernel->mangled_name, kernel->short_name});
  Pass pass = plan_ncu(plan_.config, plan_.tools, plan_.bundle, &request_, capture_.adaptations);
  if (tries_ > 1) {
    pass.process.stdout_log = plan_.bundle / "logs" / "ncu-2.stdout.log";
    pass.process.stderr_log = plan_.bundle / "logs" / "ncu-2.stderr.log";
  }
  waiting_.push_back(std::move(pass));
}

void NcuStep::take(const Pass& pass, const ProcessResult* result, PassRecord& record) {
  if (pass.kind != PassKind::kNcu) take_export(pass, result);
  else if (result != nullptr) take_profile(pass, *result, record);
  if (waiting_.empty() && (result != nullptr || pass.kind != PassKind::kNcu)) conclude();
}

void NcuStep::take_profile(const Pass& pass, const ProcessResult& result, PassRecord& record) {
  const bool there = fs::exists(plan_.bundle / pass.outputs.at(0));
  last_ = diagnose_ncu(result, {pass.process.stdout_log, pass.process.stderr_log}, there);
  record.detail = last_.trouble ? text_of(*last_.trouble) : "";
  if (!there && record.outcome == PassOutcome::kOk) record.outcome = PassOutcome::kFailed;
  if (!there) return;
  for (const Pass& next : passes_.subspan(1)) waiting_.push_back(next);  // the exports
}

void NcuStep::take_export(const Pass& pass, const ProcessResult* result) {
  const fs::path csv = plan_.bundle / pass.outputs.at(0);
  if (result == nullptr || result->interrupted || result->timed_out) return waiting_.clear();
  const bool good = fs::exists(csv);
  if (good && (best_export_.empty() || pass.kind == PassKind::kNcuExportRaw)) best_export_ = csv;
  if (!good)
    runner_.verdict().add(
        Code::kNcuExportFailed,
        {std::string(key_of(pass.kind)), last_words(result->stderr_text, 2), (plan_.bundle / "ncu/profile.ncu-rep").string()},
        (fs::path("logs") / pass.process.stderr_log.filename()).string());
}

void NcuStep::read_export() {
  if (best_export_.empty()) return;
  try {
    capture_.ncu.push_back(parsers::read_ncu_csv(best_export_));
  } catch (const Error& error) {
    runner_.verdict().add(error);
  }
}

void NcuStep::conclude() {
  read_export();
  kernels_.join(capture_.ncu, Meter::kNcu);
  const auto missing = kernels_.unmeasured();
  const bool again = last_.retry != Retry::kNo || !last_.trouble;
  if (tries_ > 1 || !again || missing.empty() || stopped()) return;
  set_aside_first();
  if (last_.retry != Retry::kSame) request_.attempt = 2;
  if (last_.trouble && last_.trouble->code == Code::kCountersBusy) std::this_thread::sleep_for(std::chrono::seconds(2));
  attempt(missing);
}

void NcuStep::set_aside_first() const {
  std::error_code ignored;
  for (const char* name : {"profile.ncu-rep", "raw.csv", "details.csv"}) {
    const fs::path file = plan_.bundle / "ncu" / name;
    if (fs::exists(file)) fs::rename(file, file.parent_path() / ("first-" + std::string(name)), ignored);
  }
}

void NcuStep::finish() {
  const auto missing = kernels_.unmeasured(), all = kernels_.chosen();
  if (missing.empty()) {
    if (last_.application_failed) runner_.verdict().add(Code::kNcuEndedWithError, {}, "logs/ncu.stderr.log");
    return;
  }
  if (stopped()) {
    capture_.counters_missing = Remark{Code::kCountersNotReached};
    return;
  }
  capture_.counters_missing =
      last_.trouble ? *last_.trouble : Remark{Code::kNotLaunchedAgain, {"inside the chosen ranges of the second run"}};
  const bool none = missing.size() == all.size();
  const bool denied = last_.trouble && last_.trouble->code == Code::kCountersDenied;
  if (last_.trouble && (none || denied))
    return runner_.verdict().add(last_.trouble->code, last_.trouble->details, denied ? "ncu: ERR_NVGPUCTRPERM" : "ncu/cmd.txt");
  runner_.verdict().add(Code::kCountersPartly,
                        {"ncu", std::to_string(all.size() - missing.size()), std::to_string(all.size()), names_of(missing)}, "ncu/cmd.txt");
}

}  // namespace nl::orchestrator
