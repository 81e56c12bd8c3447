#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "analysis/figures/counters/join_counters.h"
#include "model/words.h"
#include "orchestrator/capture/count.h"
#include "parsers/collector/trace.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

std::optional<Remark> trouble_in(const CounterReport& report, bool wrote_nothing) {
  if (wrote_nothing) return Remark{Code::kCountersFailed, {"the collector wrote no file"}};
  const Remark* trouble = find_first(report.notes, kCounterTroubles);
  return trouble != nullptr ? std::optional(*trouble) : std::nullopt;
}

std::string joined(const std::string& before, const std::string& more) {
  return before.empty() || more.empty() ? before + more : before + "; " + more;
}

class CuptiStep : public CountStep {
 public:
  explicit CuptiStep(const Counting& counting) : CountStep(counting) {
    request_.anywhere = plan_.config.run.stages.empty() || unmarked_;
    for (const Pass& pass : passes_) {
      if (pass.kind != PassKind::kStageCounters) continue;
      if (unmarked_) leave_out(pass);
      else waiting_.push_back(pass);
    }
    if (waiting_.empty()) count_kernels();
  }

  void take(const Pass& pass, const ProcessResult* result, PassRecord& record) override {
    const bool stages = pass.kind == PassKind::kStageCounters;
    if (result == nullptr) return;
    judge(pass, *result, record);
    const auto files = collector_files(plan_.bundle / pass.outputs.at(0));
    CounterReport report;
    try {
      if (!files.empty()) report = parsers::read_collector_counters(files);
    } catch (const Error& error) {
      runner_.verdict().add(error);
      capture_.counters_missing = Remark{Code::kCountersFailed, {error.message}};
      unreadable_ = true;
      if (stages) count_kernels();
      return;
    }
    const auto trouble = trouble_in(report, files.empty());
    if (trouble) record.detail = joined(record.detail, text_of(*trouble));
    trouble_ = (stages ? report.windows.empty() : report.kernels.launches.empty()) ? trouble : std::nullopt;
    capture_.counters.push_back(report);
    stages ? take_stages(report) : take_kernels(report);
  }

  void finish() override {
    auto missing = kernels_.unmeasured();
    std::erase_if(missing, [](const KernelEntry* kernel) { return analysis::never_counted(*kernel).has_value(); });
    if (stopped()) {
      capture_.counters_missing = Remark{Code::kCountersNotReached};
      return;
    }
    if (trouble_) return blame(*trouble_);
    if (missing.empty() || unreadable_) return;
    if (failed_) {
      capture_.counters_missing = Remark{Code::kFailedWhileCounted};
      return;
    }
    const auto chosen = kernels_.chosen();
    capture_.counters_missing =
        Remark{Code::kNotLaunchedAgain, {request_.anywhere ? "in the counter passes" : "inside the chosen ranges of the counter pass"}};
    runner_.verdict().add(Code::kCountersPartly,
                          {"CUPTI", std::to_string(chosen.size() - missing.size()), std::to_string(chosen.size()), names_of(missing)},
                          kCounterKernels);
  }

 private:
  // It ran well under the trace: that it fails here is the counters' doing, and what they gave until then is kept.
  void judge(const Pass& pass, const ProcessResult& result, PassRecord& record) {
    failed_ = result.exit_status != 0 && !result.timed_out && !result.interrupted;
    if (!failed_) return;
    record.detail = fmt::format("the workload ended with status {}", result.exit_status);
    runner_.verdict().add(Code::kCounterPassFailed, {std::to_string(result.exit_status), std::string(key_of(pass.kind))},
                          (fs::path("logs") / pass.process.stderr_log.filename()).string());
  }

  void take_stages(const CounterReport& report) {
    measured_ = !report.windows.empty();
    if (!measured_ && trouble_ && !failed_) return;  // the kernels would meet the same
    if (!measured_ && !failed_ && !stopped())
      runner_.verdict().add(Code::kStagesNotCounted, {fmt::format("{}", fmt::join(plan_.config.run.stages, ", "))});
    trouble_.reset();
    count_kernels();
  }

  // Where none of them was launched inside the ranges, as with ncu: once more, wherever they are launched.
  void take_kernels(const CounterReport& report) {
    std::vector<NcuReport> all;
    for (const auto& each : capture_.counters) all.push_back(each.kernels);
    measured_ = kernels_.join(all, Meter::kCupti) > 0 || measured_;
    if (!report.kernels.launches.empty() || trouble_ || request_.anywhere || failed_ || stopped()) return;
    add_once(capture_.adaptations, {Code::kWiderRanges, {"the counter pass"}});
    request_.anywhere = true;
    request_.attempt = 2;
    count_kernels();
  }

  // The collector counts between the ranges that mark a stage.
  void leave_out(const Pass& pass) {
    constexpr const char* kWhy = "the workload marks none";
    runner_.skip(pass, kWhy);
    add_once(capture_.adaptations, {Code::kStagesLeftOut, {kWhy}});
  }

  void count_kernels() {
    request_.kernels = write_names();
    if (*request_.kernels > 0) waiting_.push_back(plan_kernel_counters(plan_.config, plan_.tools, plan_.bundle, request_));
  }

  // The names that can be measured, for the collector; how many.
  std::size_t write_names() {
    std::set<std::string> names;
    for (const auto* kernel : kernels_.chosen())
      if (!analysis::never_counted(*kernel)) names.insert(kernel->symbol());
    std::string lines;
    for (const auto& name : names) lines += name + "\n";
    if (!names.empty()) runner_.bundle().write(kCounterKernels, lines);
    return names.size();
  }

  void blame(const Remark& trouble) {
    capture_.counters_missing = trouble;
    const bool only_kernels = measured_ && trouble.code == Code::kCountersFailed;
    runner_.verdict().add(only_kernels ? Remark{Code::kKernelCountersFailed, trouble.details, "counters/cmd.txt"}
                                       : Remark{trouble.code, trouble.details, "counters/cmd.txt"});
  }

  CounterRequest request_;
  std::optional<Remark> trouble_;  // why nothing was counted
  bool failed_ = false;            // the workload, in the latest pass
  bool unreadable_ = false;        // a file of the collector's, and that was said
  bool measured_ = false;          // anything
};

}  // namespace

std::unique_ptr<Step> cupti_step(const Counting& counting) { return std::make_unique<CuptiStep>(counting); }

}  // namespace nl::orchestrator
