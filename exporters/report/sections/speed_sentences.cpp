#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "exporters/report/sections/executive_summary.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/operator_text.h"
#include "exporters/report/text/run_text.h"
#include "model/run_metrics.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

// Tokens that a decode step yields.
double tokens_per_step(const Run& run) {
  const StageEntry* decode = stage_named(run, key_of(StageKind::kDecode));
  if (decode == nullptr || !decode->tokens_per_window || !run.latency.tpot || decode->wall.mean_ns <= 0) return 1;
  return *decode->tokens_per_window * run.latency.tpot->mean_ns / decode->wall.mean_ns;
}

// The batch is not known, and a step counts as one token: of runs until format 3.2.
bool counted_as_one(const Run& run) {
  return run.workload.verdict.kind != WorkloadKind::kServing && !run.latency.batch && tokens_per_step(run) <= 1.01;
}

constexpr double kPhaseWorthSaying = 0.05;  // of the measured time
constexpr std::size_t kMostPhases = 3;
constexpr double kFarFromMedian = 1.5;

std::string subject(const Run& run) {
  if (!run.model.name.empty()) return phrase(run.model.name);
  return run.name.empty() ? "the workload" : phrase(run.name);
}

// "On one NVIDIA H200, "; nothing where no GPU was seen.
std::string where(const Run& run) {
  const auto& gpus = run.hardware.gpus;
  if (gpus.empty()) return {};
  const std::string name = gpus[0].name.empty() ? "GPU" : phrase(gpus[0].name);
  if (gpus.size() == 1) return "On one " + name + ", ";
  return gpus[0].name.empty() ? fmt::format("On {} GPUs, ", gpus.size()) : fmt::format("On {} GPUs ({}), ", gpus.size(), name);
}

// The name of a model stays as it is written, also where it begins the sentence.
std::string who(const Run& run) {
  return where(run).empty() && run.model.name.empty() && run.name.empty() ? "The workload" : where(run) + subject(run);
}

// "a prompt of 256 tokens", "4 prompts of 100 tokens"; "the prompt" where its length or the batch is not known.
std::string prompt_text(const Run& run) {
  const StageEntry* prefill = stage_named(run, key_of(StageKind::kPrefill));
  const double batch = run.latency.batch.value_or(0);
  if (prefill == nullptr || !prefill->tokens_per_window || !(batch >= 1)) return "the prompt";
  const std::string length = fmt::format("of {} tokens", rough_count(*prefill->tokens_per_window / batch));
  return batch > 1 ? fmt::format("{} prompts {}", tokens_text(batch), length) : "a prompt " + length;
}

constexpr const char* kPredictedBare = "predicted without the profiler";

// "predicted without the profiler, 2.9 to 3.7 ms"
std::string bare_words(const BareWindow& bare) {
  return bare.predicted ? fmt::format("{}, {} to {}", kPredictedBare, rough_time(bare.low_ns), rough_time(bare.high_ns)) : "unprofiled";
}

// The figures of one sentence, all of them without the profiler or all traced.
struct Speed {
  bool bare = false;     // without the profiler: of unprofiled passes, or predicted
  bool answers = false;  // the first is the time to the first token, from a request's arrival; else that of prefill
  HeadlineFigure first, token, rate;
  std::string token_range = {};  // ", 2.9 to 3.7 ms a token": of a prediction

  std::optional<double> of(const HeadlineFigure& figure) const { return bare ? figure.bare() : figure.traced; }
};

// The unprofiled passes know no arrival of a request, so that the time of prefill stands for what comes first.
Speed speed_of(const Run& run) {
  Speed speed{false, run.latency.ttft.has_value(), first_token(run), per_token(run), output_rate(run)};
  speed.bare = (speed.token.best() ? speed.token : speed.first).bare().has_value();
  const StageEntry* step = speed.token.predicted ? stage_named(run, key_of(StageKind::kDecodeStep)) : nullptr;
  if (const auto bare = step != nullptr ? bare_window(run, *step) : std::nullopt; bare && bare->predicted)
    speed.token_range = fmt::format(", {} to {} a token", rough_time(bare->low_ns), rough_time(bare->high_ns));
  if (!speed.bare || !speed.answers) return speed;
  speed.answers = false;
  speed.first = prefill_figure(run);
  return speed;
}

std::string first_token_part(const Run& run, const Speed& speed) {
  const auto first = speed.of(speed.first);
  if (!first) return {};
  return speed.answers ? "starts to answer after " + rough_time(*first)
                       : fmt::format("reads {} in {}", prompt_text(run), rough_time(*first));
}

// A few slow steps make a mean that no step has. Unprofiled figures are medians.
std::string usual_of(const StageEntry& step) {
  if (step.wall.count < 4 || step.wall.median_ns <= 0 || !(step.wall.mean_ns > kFarFromMedian * step.wall.median_ns)) return {};
  return " on average, though " + usual_step_text(rough_time(step.wall.median_ns));
}

std::string usual_step(const Run& run, const Speed& speed) {
  const StageEntry* step = stage_named(run, key_of(StageKind::kDecodeStep));
  return speed.bare || step == nullptr ? "" : usual_of(*step);
}

std::string token_part(const Run& run, const Speed& speed) {
  const auto token = speed.of(speed.token);
  if (!token) return {};
  const double batch = run.latency.batch.value_or(1);
  const std::string whose = batch > 1                                ? fmt::format(" for each of {} sequences", tokens_text(batch))
                            : run.latency.batch || speed.rate.best() ? ""
                                                                     : " for each sequence of a batch that is not known";
  return fmt::format("writes a token every {}{}{}", rough_time(*token), whose, usual_step(run, speed));
}

// "205 tokens per second over whole requests"
std::string rate_part(const Run& run, const Speed& speed) {
  const auto rate = speed.of(speed.rate);
  if (!rate) return {};
  return fmt::format("{} tokens per second over whole requests{}", rough_count(*rate), counted_as_one(run) ? ", if the batch is one" : "");
}

// " (unprofiled; with the profiler 4.9 ms, 4.3 ms and 205)" where the figures are of unprofiled runs.
std::string traced_part(const Speed& speed) {
  if (!speed.bare) return {};
  const bool predicted = speed.token.predicted || speed.first.predicted;
  std::vector<std::string> traced;
  if (speed.first.bare() && speed.first.traced) traced.push_back(rough_time(*speed.first.traced));
  if (speed.token.bare() && speed.token.traced) traced.push_back(rough_time(*speed.token.traced));
  if (speed.rate.bare() && speed.rate.traced) traced.push_back(rough_count(*speed.rate.traced));
  if (traced.empty()) return {};
  return fmt::format(" ({}{}; with the profiler {})", predicted ? kPredictedBare : "unprofiled", speed.token_range, join_and(traced));
}

// "llama reads a prompt of 256 tokens in 4.9 ms and then writes a token every 4.3 ms: 205 tokens per second over whole requests."
std::string token_speed(const Run& run) {
  if (!generates(run)) return {};
  const Speed speed = speed_of(run);
  const std::string first = first_token_part(run, speed), token = token_part(run, speed), rate = rate_part(run, speed);
  if (first.empty() && token.empty() && rate.empty()) return {};
  std::string text = first;
  if (!token.empty()) text += (text.empty() ? "" : " and then ") + token + (rate.empty() ? "" : ": " + rate);
  else if (!rate.empty()) text += (text.empty() ? "writes " : " and writes ") + rate;
  return fmt::format("{} {}{}{}.", who(run), text, source_label(run), traced_part(speed));
}

// The time of a step of all requests; the unprofiled one where the other figures are unprofiled.
HeadlineFigure shared_step(const Run& run) {
  const StageEntry* step = stage_named(run, key_of(StageKind::kDecodeStep));
  if (step == nullptr || step->wall.count == 0) return {};
  const auto bare = bare_window(run, *step);
  HeadlineFigure figure{step->wall.mean_ns, {}, &step->wall};
  if (bare) (bare->predicted ? figure.predicted : figure.unprofiled) = bare->ns;
  return figure;
}

// "llama serves several requests at a time: it reads the prompt in 8.0 ms and takes a step for all requests in 5.5 ms. A request waits 14 ms
// between its tokens: 420 tokens per second over whole requests." A step's time is not a request's: others' prompts are between.
std::string serving_speed(const Run& run) {
  if (run.workload.verdict.kind != WorkloadKind::kServing) return {};
  const Speed speed = speed_of(run);
  const HeadlineFigure step = shared_step(run);
  const auto step_ns = speed.of(step), token_ns = speed.of(speed.token);
  std::vector<std::string> parts;
  if (const std::string first = first_token_part(run, speed); !first.empty()) parts.push_back(first);
  if (step_ns) parts.push_back("takes a step for all requests in " + rough_time(*step_ns) + usual_step(run, speed));
  const std::string rate = rate_part(run, speed);
  if (parts.empty() && !token_ns && rate.empty()) return {};
  std::string text = who(run) + " serves several requests at a time" + (parts.empty() ? "" : ": it " + join_and(parts)) + source_label(run);
  if (token_ns) text += fmt::format(". A request waits {} between its tokens{}", rough_time(*token_ns), rate.empty() ? "" : ": " + rate);
  else if (!rate.empty()) text += ". It writes " + rate;
  return text + traced_part(speed) + ".";
}

// What the parts of a unit take of it: "forward 12 ms, backward 25 ms"
std::string parts_of_unit(const Run& run, const StageEntry& unit) {
  if (stage_kind(unit.name) != StageKind::kTrainStep || unit.wall.count == 0) return {};
  std::vector<std::string> parts;
  for (const StageKind kind : {StageKind::kLoadData, StageKind::kForward, StageKind::kBackward, StageKind::kOptimizer})
    if (const StageEntry* part = stage_named(run, key_of(kind)); part != nullptr && part->wall.count > 0)
      parts.push_back(
          fmt::format("{} {}", plain_stage(run, part->name),
                      rough_time(part->wall.mean_ns * static_cast<double>(part->wall.count) / static_cast<double>(unit.wall.count))));
  return join_and(parts);
}

// "3 images of 1.4 s"; empty: not marked.
std::string larger_units(const Run& run) {
  const StageEntry* image = stage_named(run, key_of(StageKind::kImage));
  if (image == nullptr || image->wall.count == 0) return {};
  return fmt::format("; {} of {}", plural(image->wall.count + image->warmup_windows, "image"), rough_time(image->wall.mean_ns));
}

std::uint64_t processes_of(const StageEntry& stage) {
  std::set<std::uint32_t> pids;
  for (const StageDevice& device : stage.devices) pids.insert(device.pid);
  return std::max<std::size_t>(1, pids.size());
}

// "llama takes 40 training steps of 152 ms, 1 of them warm-up. Of a step, traced, the forward pass takes …". Of programs that are not known
// to generate.
std::string unit_speed(const Run& run) {
  const StageEntry* unit = unit_stage(run);
  if (unit == nullptr || generates(run) || stage_kind(unit->name) == StageKind::kOther) return {};
  const auto bare = bare_window(run, *unit);
  const std::string warmup = unit->warmup_windows > 0 ? fmt::format(", {} of them warm-up", unit->warmup_windows) : "";
  const std::string traced = bare ? fmt::format(" ({}; with the profiler {})", bare_words(*bare), rough_time(unit->wall.mean_ns)) : "";
  const std::string parts = parts_of_unit(run, *unit);
  const std::uint64_t all = unit->wall.count + unit->warmup_windows, processes = processes_of(*unit);
  const bool in_step = processes > 1 && all % processes == 0;
  const std::string each = in_step ? fmt::format(" in each of {} processes", processes) : "";
  return fmt::format("{} {} {} of {}{}{}{}{}{}.", who(run), unit_verb(run),
                     plural(in_step ? all / processes : all, unit_noun(run), units_noun(run)),
                     rough_time(bare ? bare->ns : unit->wall.mean_ns) + (bare ? "" : usual_of(*unit)), each, in_step ? "" : warmup,
                     larger_units(run), source_label(run), traced) +
         (parts.empty() ? "" : fmt::format(" Of a step, traced, {}.", parts));
}

std::string stage_speeds(const Run& run) {
  std::vector<std::string> parts;
  for (const auto& stage : run.stages)
    if (stage.wall.count > 0 && parts.size() < kMostPhases)
      parts.push_back(fmt::format("{} takes {}", plain_stage(run, stage.name), rough_time(stage.wall.mean_ns)));
  if (parts.empty()) return {};
  return sentence(
      fmt::format("{}in {}, {}{}", where(run), subject(run), join_and(parts), run.stages.front().wall.count > 1 ? " on average" : ""));
}

// Of a profile that another tool made of a model file: a run of it, with the sum of what its operators took where no clock was around it.
std::string imported_speed(const Run& run) {
  const OperatorStep* step = model_step(run);
  if (step == nullptr) return {};
  if (step->wall_ns)
    return fmt::format("{} takes {} a run ({}; {} of {} runs have these shapes).", who(run),
                       rough_time(static_cast<double>(*step->wall_ns)), step->source, step->iterations, step->windows);
  Ns sum = 0;
  for (const TypeTime& type : times_by_type(*step)) sum += type.own_ns;
  return sum > 0 ? fmt::format("The operators of {} take {} a run ({}, {}).", subject(run), rough_time(static_cast<double>(sum)),
                               step->source, plural(step->iterations, "run"))
                 : "";
}

std::string nothing_timed(const Run& run) {
  if (!run.coverage.gpu_busy_ns) return fmt::format("{} marks no stages.", who(run));
  const std::string busy = rough_time(static_cast<double>(*run.coverage.gpu_busy_ns));
  if (run.coverage.devices.size() > 1) return fmt::format("{} marks no stages; each GPU worked for {} on average.", who(run), busy);
  return fmt::format("{} marks no stages; the GPU worked for {} in all.", who(run), busy);
}

bool is_idle(const Phase& phase) { return stage_kind(phase.name) == StageKind::kIdle; }

std::string phase_text(const Run& run, const Phase& phase) {
  if (is_idle(phase)) return "time outside the stages";
  return stage_kind(phase.name) == StageKind::kMixed ? "several stages at once" : plain_stage(run, phase.name);
}

// "Writing the answer (decode) takes 87 % of the measured time and reading the prompt (prefill) 13 %"
std::string phase_shares(const Run& run) {
  std::vector<const Phase*> phases;
  for (const Phase& phase : run.phases.phases) phases.push_back(&phase);
  std::stable_sort(phases.begin(), phases.end(), [](const Phase* a, const Phase* b) { return a->wall_ns > b->wall_ns; });
  std::vector<std::string> parts;
  for (const Phase* phase : phases) {
    const double share = static_cast<double>(phase->wall_ns) / static_cast<double>(run.phases.span_ns);
    if (share < kPhaseWorthSaying || parts.size() == kMostPhases) break;
    const std::string amount = parts.empty() ? fmt::format("takes {} of the measured time", rough_share(share)) : rough_share(share);
    parts.push_back(phase_text(run, *phase) + " " + amount);
  }
  return join_and(parts);
}

// What one step of the main stage takes at the GPU's limit, and takes here.
struct AtLimit {
  std::string what;  // "a token", "a window"
  double ideal_ns = 0, best_ns = 0;
};

std::optional<AtLimit> at_limit(const Run& run, const MainStage& main) {
  const StageEfficiency* efficiency = efficiency_of(run, main.name);
  if (efficiency == nullptr || !(efficiency->ideal_ns.value_or(0) > 0) || !(main.mean_ns > 0)) return std::nullopt;
  const double share = *efficiency->ideal_ns / main.mean_ns;
  const Headline token = per_token(run);
  const double best_share = token.traced && token.best() ? *token.traced / *token.best() : 1;
  // A request of a server waits for the prompts of others as well: only the step has a limit.
  const bool shared = run.workload.verdict.kind == WorkloadKind::kServing;
  if (is_decode(main.name) && token.traced && !shared) return AtLimit{"a token", *token.traced * share, *token.traced / best_share};
  return AtLimit{plain_stage(run, main.name), *efficiency->ideal_ns, main.mean_ns};
}

std::string limit_part(const Run& run, const MainStage& main) {
  const auto limit = at_limit(run, main);
  if (!limit) return {};
  const double times = limit->best_ns / limit->ideal_ns;
  const std::string estimated = run.peaks && run.peaks->derived ? " (estimated)" : "";
  if (times < 0.98) return "; it is faster than the model's description allows, so that description is probably wrong";
  if (times < 1.5)
    return fmt::format("; {} takes {}, close to the limit of this GPU{}", limit->what, rough_time(limit->best_ns), estimated);
  const std::string factor = times < 4 ? fmt::format("{:.1f}", times) : "about " + rough_count(times);
  return fmt::format("; at the limit of this GPU{} {} takes {}, {} times less", estimated, limit->what, rough_time(limit->ideal_ns),
                     factor);
}

}  // namespace

std::string whose_tokens(const Run& run) {
  const auto& batch = run.latency.batch;
  if (batch) return *batch > 1 ? fmt::format("all {} sequences", tokens_text(*batch)) : "";
  return counted_as_one(run) ? "one sequence" : "all sequences";
}

Headline first_token(const Run& run) {
  return {first_token_figure(run), figure_title(run.latency.ttft ? "ttft_ms" : "prefill_ms") + source_label(run)};
}

Headline per_token(const Run& run) {
  const bool several = run.latency.tpot && !whose_tokens(run).empty();
  return {per_token_figure(run), figure_title("tpot_ms") + (several ? " of each sequence" : "") + source_label(run)};
}

Headline output_rate(const Run& run) {
  const std::string whose = run.latency.output_tokens_per_s ? whose_tokens(run) : "";
  return {output_rate_figure(run), figure_title("tokens_per_s") + (whose.empty() ? "" : ", " + whose) + source_label(run)};
}

const OperatorStep* model_step(const Run& run) {
  if (!run.session && !run.stages.empty()) return nullptr;
  for (const OperatorStep& step : run.operator_steps)
    if (!step.calls.empty() && (!run.session || step.source == run.session->backend)) return &step;
  return nullptr;
}

std::string speed_sentence(const Run& run) {
  if (has_iterations(run)) return iteration_speed(run, where(run));
  for (const auto& text : {unit_speed(run), serving_speed(run), token_speed(run), stage_speeds(run), imported_speed(run)})
    if (!text.empty()) return text;
  return nothing_timed(run);
}

std::string quality_sentence(const Run& run, const std::optional<MainStage>& main) {
  if (has_iterations(run) || !main) return operator_shares(run);
  if (stage_kind(main->name) == StageKind::kCapture) return "Its stages are not marked, and nothing was found that repeats.";
  const std::string shares = run.phases.span_ns > 0 ? phase_shares(run) : "";
  return sentence((shares.empty() ? plain_stage(run, main->name) + " takes the longest" : shares) + limit_part(run, *main));
}

}  // namespace nl::exporters::report
