#include "analysis/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/figures/efficiency/device_peaks.h"
#include "analysis/figures/overhead/tracing_cost.h"
#include "analysis/trace/gpu_order.h"
#include "model/headline.h"
#include "model/parallel.h"

namespace nl::analysis {
namespace {

// The functions of the user's own code that the GPU waits for: those that fill a recurring gap, and those that take the time themselves. What launches
// the work is not among them: without it there would be no step.
std::vector<NamedChange> own_functions(const Run& run, const std::string& stage) {
  constexpr std::size_t kMost = 4;
  const StageEntry* entry = stage_named(run, stage);
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (names.size() < kMost && !name.starts_with('<') && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  if (entry == nullptr) return {};
  for (const StageGap& gap : entry->gaps)
    if (gap.host && gap.host->function && gap.host->kind == HostWork::kUser && 2 * gap.host->own_samples > gap.host->samples)
      add(gap.host->function->function);
  if (entry->host_code)
    for (const HostLine& line : entry->host_code->functions)
      if (line.kind == HostWork::kUser && line.samples >= kMinHostSamples && 2 * line.samples > line.samples_inside)
        add(line.frame.function);
  std::vector<NamedChange> changes;
  for (const std::string& name : names) changes.push_back(change_of(fmt::format("--host {}=0", name)));
  return changes;
}

TracerPart tracer_part(const Run& run, const StagedTrace& staged, const Knowledge& knowledge) {
  const auto launch = launch_cost(run, staged.trace.processes, knowledge.tracing);
  return launch ? TracerPart{launch->low_ns, launch->high_ns} : TracerPart{};
}

// Of the bytes that weights have now.
std::optional<double> left_of_weights(const Run& run, DataType to) {
  const double now = bits_of(run.model.weights_precision), then = bits_of(to);
  return now > 0 && then > 0 ? std::optional(std::min(1.0, then / now)) : std::nullopt;
}

// Of a kernel's time on another card: as its memory or as its arithmetic is faster.
OtherCard other_card(const Run& run, const Knowledge& knowledge, OtherCard card) {
  Device named;
  named.name = card.name;
  const DevicePeaks then = device_peaks(named, knowledge.devices);
  if (!run.peaks || !run.peaks->bytes_per_s || !then.bytes_per_s) return card;
  const double memory = *run.peaks->bytes_per_s / *then.bytes_per_s;
  card.least = card.most = memory;
  for (const auto& [type, flops] : run.peaks->flops_per_s) {
    const auto other = then.flops_per_s.find(type);
    if (other == then.flops_per_s.end() || other->second <= 0 || data_type_of(type) == DataType::kF64) continue;
    card.least = std::min(*card.least, flops / other->second);
    card.most = std::max(*card.most, flops / other->second);
  }
  return card;
}

double least_ns(const DeviceCeilings& card, const RooflinePoint& point) {
  constexpr double kSecond = 1e9;
  double least = card.copy_bytes_per_s ? point.dram_bytes / *card.copy_bytes_per_s * kSecond : 0;
  const auto rate = card.gemm_flops_per_s.find(point.precision.substr(point.precision.rfind(' ') + 1));  // "tensor bf16", "f32"
  if (rate != card.gemm_flops_per_s.end()) least = std::max(least, point.flops / rate->second * kSecond);
  return least;
}

// Of the kernels whose work ncu counted: of their time, at the rates that this card reached in `nl-stage ceilings`.
KernelsAtCeiling at_ceiling(const Run& run, const Knowledge& knowledge, KernelsAtCeiling kernels) {
  const Device* device = working_device(run);
  const auto card = std::find_if(knowledge.ceilings.begin(), knowledge.ceilings.end(), [&](const DeviceCeilings& each) {
    if (device == nullptr) return false;
    return device->uuid.empty() ? each.name == device->name : each.uuid.ends_with(device->uuid);  // with "GPU-" before it or not
  });
  if (card == knowledge.ceilings.end()) return kernels;
  for (const RooflinePoint& point : run.roofline.points)
    if (point.kernel.find(kernels.name) != std::string::npos && point.duration_ns > 0)
      kernels.left[point.kernel] = least_ns(*card, point) / static_cast<double>(point.duration_ns);
  return kernels;
}

const StageEfficiency* efficiency_named(const Run& run, const std::string& stage) {
  const auto found =
      std::find_if(run.efficiency.begin(), run.efficiency.end(), [&](const StageEfficiency& each) { return each.stage == stage; });
  return found != run.efficiency.end() ? &*found : nullptr;
}

// Nothing where neither the run nor the user knows it, or the trace has no such windows.
std::optional<UnprofiledWindow> unprofiled_window(const Run& run, const StagedTrace& staged, const std::string& stage,
                                                  std::optional<double> known_ns) {
  const StageEntry* entry = stage_named(run, stage);
  if (!known_ns && entry != nullptr) known_ns = unprofiled_ns(run, *entry);
  if (!known_ns || staged.table.find(stage) == kNone) return std::nullopt;
  return UnprofiledWindow{stage, *known_ns};
}

bool is_whole(const Run& run) { return run.status == RunStatus::kComplete && !is_incomplete(run); }

}  // namespace

RunReplay::RunReplay(const Run& run, const StagedTrace& staged, const Knowledge& knowledge, const Options& options)
    : run_(run), knowledge_(knowledge), staged_(staged), options_(options),
      unprofiled_(unprofiled_window(run, staged, options.stage, options.unprofiled_ns)) {}

bool RunReplay::is_replayed_whole() const { return gpu_work_count(staged_.trace) <= options_.most_works; }

std::unique_ptr<Predictor> RunReplay::made_predictor(const std::string& stage) const {
  const TracerPart tracer = tracer_part(run_, staged_, knowledge_);
  return std::make_unique<Predictor>(staged_, PredictorOptions{tracer, unprofiled_, options_.most_works, stage, options_.interval_scale});
}

const Predictor& RunReplay::predictor(const std::string& stage) const {
  std::unique_ptr<Predictor>& made = predictors_[is_replayed_whole() ? "" : stage];
  if (!made) made = made_predictor(stage);
  return *made;
}

// Of a trace of which a part is replayed, each stage has another one.
void RunReplay::make_predictors(const std::vector<std::string>& stages) const {
  if (is_replayed_whole()) return;
  std::vector<std::unique_ptr<Predictor>> made(stages.size());
  each_in_parallel(stages.size(), [&](std::size_t i) { made[i] = made_predictor(stages[i]); });
  for (std::size_t i = 0; i < stages.size(); ++i) predictors_[stages[i]] = std::move(made[i]);
}

NamedChange RunReplay::informed(NamedChange named, const std::string& stage) const {
  if (auto* batch = std::get_if<LargerBatch>(&named.change)) {
    const StageEfficiency* efficiency = efficiency_named(run_, stage);
    if (efficiency != nullptr) batch->arithmetic_share = efficiency->mfu_busy;
  } else if (auto* weights = std::get_if<SmallerWeights>(&named.change)) {
    weights->left = left_of_weights(run_, weights->to);
  } else if (auto* card = std::get_if<OtherCard>(&named.change)) {
    *card = other_card(run_, knowledge_, std::move(*card));
  } else if (auto* kernels = std::get_if<KernelsAtCeiling>(&named.change)) {
    *kernels = at_ceiling(run_, knowledge_, std::move(*kernels));
  }
  return named;
}

Prediction RunReplay::predict(const std::string& stage, std::vector<NamedChange> changes) const {
  for (NamedChange& change : changes) change = informed(std::move(change), stage);
  Prediction prediction = predictor(stage).predict(stage, changes);
  if (!is_whole(run_)) prediction.refused = NoPrediction::kPartial;
  return prediction;
}

WhatIf RunReplay::as_it_is(const std::string& stage) const {
  WhatIf result;
  result.name = run_.name;
  result.stage = stage;
  result.replay_error = predictor(stage).replay_error(stage);
  if (unprofiled_ && unprofiled_->stage == stage) result.unprofiled_ns = unprofiled_->ns;
  return result;
}

void RunReplay::explore(WhatIf& result) const {
  const Predictor& predictor = this->predictor(result.stage);
  std::vector<NamedChange> changes = predictor.candidates(result.stage);
  for (NamedChange& change : own_functions(run_, result.stage)) changes.push_back(std::move(change));
  result.predictions = predictor.ranked(result.stage, changes);
  result.sequence = predictor.best_sequence(result.stage, std::move(changes));
  if (result.sequence.empty()) return;
  std::vector<NamedChange> made;
  for (const std::string& change : result.sequence.back().changes) made.push_back(change_of(change));
  result.now = predictor.strip(result.stage, {});
  result.then = predictor.strip(result.stage, made);
}

// No window of it has much more work than is replayed of a long trace.
bool RunReplay::is_short(const std::string& stage) const {
  return is_replayed_whole() || Predictor::works_in_middle_window(staged_, stage) <= 2 * options_.most_works;
}

std::optional<WhatIf> RunReplay::everything(const std::string& stage) const {
  std::vector<std::string> stages;
  for (const StageEntry& entry : run_.stages)
    if (entry.wall.count > 0 && !entry.runs_on() && (entry.name == stage || is_short(entry.name))) stages.push_back(entry.name);
  make_predictors(stages);
  const Prediction now = predict(stage, {});
  if (now.refused || now.unperturbed_ns <= 0) return std::nullopt;
  WhatIf result = as_it_is(stage);
  result.binds = now.binds;
  for (const std::string& each : stages) result.stages.push_back(predict(each, {}));
  std::erase_if(result.stages, [](const Prediction& each) { return each.refused.has_value(); });
  explore(result);
  return result;
}

WhatIf RunReplay::answer(const std::string& stage, const std::vector<NamedChange>& changes) const {
  WhatIf result = as_it_is(stage);
  const Prediction now = predict(stage, {});
  if (now.refused) {
    result.predictions.push_back(now);
    for (const NamedChange& change : changes) result.predictions.back().changes.push_back(change.text);
    return result;
  }
  result.binds = now.binds;
  if (changes.empty()) explore(result);
  else result.predictions.push_back(predict(stage, changes));
  return result;
}

WhatIf what_if(const Evidence& evidence, const Knowledge& knowledge, const WhatIfQuestion& question) {
  const StagedTrace staged(evidence.trace, knowledge.options.warmup);
  Run run = figures_of(evidence, knowledge, staged);
  if (question.recorded) run.perturbation = question.recorded->perturbation;
  if (question.recorded && run.roofline.points.empty()) run.roofline = question.recorded->roofline;
  const std::string stage = question.stage.empty() ? stage_to_predict(run) : question.stage;
  return RunReplay(run, staged, knowledge, {stage, question.unprofiled_ns, question.interval_scale}).answer(stage, question.changes);
}

}  // namespace nl::analysis
