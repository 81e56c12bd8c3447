#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "exporters/report/sections/executive_summary.h"
#include "exporters/report/sections/sections.h"
#include "exporters/report/text/budget_bins.h"
#include "exporters/report/text/run_text.h"
#include "model/run_metrics.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

constexpr std::size_t kMaxSentences = 5;
constexpr std::size_t kLongSentence = 320;  // the longest of a shipped rule has 240 before its figures are put in
constexpr double kWorthSaying = 0.05;       // of the time: less is not what limits a stage
constexpr double kSecondWorthSaying = 0.2;  // a second wait
constexpr double kWidestRange = 0.5;        // of an uncertain slowdown; a wider one is left out

const Problem* problem_among(const Run& run, std::initializer_list<Code> codes) {
  const auto found =
      std::find_if(run.problems.begin(), run.problems.end(), [&](const Problem& problem) { return is_one_of(problem.code, codes); });
  return found != run.problems.end() ? &*found : nullptr;
}

bool has_problem(const Run& run, std::initializer_list<Code> codes) { return problem_among(run, codes) != nullptr; }

// Why the workload failed comes before all figures: "The workload failed: python3 ran out of GPU memory, at serve.py:12 in step."
std::string failure(const Run& run) {
  const Problem* problem = problem_among(run, kWorkloadFailures);
  return problem == nullptr ? "" : sentence("The workload failed: " + phrase(problem->what, kLongSentence)) + " ";
}

// Readings of the GPUs' power, where they make no energy per token.
std::string power_text(const Run& run) {
  double watts = 0;
  for (const ClockSummary& gpu : run.energy.devices) watts += gpu.power_mean_w.value_or(0);
  if (!(watts > 0)) return {};
  return fmt::format("{} drew {} W on average while stages ran", run.energy.devices.size() > 1 ? "The GPUs" : "The GPU",
                     rough_count(watts));
}

// The program did not fail: there was nothing in it that the tools record.
bool nothing_captured(const Run& run) {
  return run.status == RunStatus::kFailed && run.workload.exit_status == 0 && !has_problem(run, kWorkloadFailures) && run.stages.empty() &&
         !run.kernels;
}

std::string status(const Run& run) {
  switch (run.status) {
    case RunStatus::kFailed:
      if (nothing_captured(run)) return "The workload ended by itself with status 0, but nothing of it was captured.";
      return failure(run) + "The run failed; the figures cover only what was captured before that.";
    case RunStatus::kInterrupted: return "The run ended early; the figures cover only its beginning.";
    case RunStatus::kPartial:
      if (is_incomplete(run)) return "A part of the trace is missing; the figures cover only what is left.";
      return has_problem(run, {Code::kTraceCutShort}) ? "The trace ends at its size limit; the figures cover only the time before that."
                                                      : "";
    case RunStatus::kComplete: return {};
  }
  return {};
}

// "; about half of the wait is …", where the wait for the program is among what was said.
std::string host_part(const Run& run, const MainStage& main, const std::vector<BudgetBin>& said) {
  const StageEntry* stage = stage_named(run, main.name);
  const bool waits = std::any_of(said.begin(), said.end(), [](const BudgetBin& bin) { return bin.time == &Budget::launch_starved_ns; });
  const std::string clause = stage != nullptr && waits ? host_clause(*stage) : "";
  return clause.empty() ? "" : "; " + clause;
}

// The denominator of the shares that follow. They are of the traced run; where the sentence before quotes an unprofiled time, that is said.
std::string whole_time(const Run& run, const MainStage& main) {
  if (has_iterations(run)) return "a profiled iteration";
  const StageEntry* unit = generates(run) ? nullptr : unit_stage(run);
  const bool unprofiled =
      unit != nullptr ? bare_window(run, *unit).has_value() : per_token_figure(run).bare() || first_token_figure(run).bare();
  const std::string traced = unprofiled ? "traced " : "";
  switch (stage_kind(main.name)) {
    case StageKind::kPrefill: return "the " + traced + "prefill time";
    case StageKind::kDecode:
    case StageKind::kDecodeStep: return "the " + traced + "decode time";
    case StageKind::kCapture: return traced.empty() ? "that time" : "the traced time";
    case StageKind::kBatch:
    case StageKind::kTrainStep:
    case StageKind::kDenoiseStep:
    case StageKind::kImage:
    case StageKind::kStep: return "each " + traced + stage_noun(main.name);
    default: return "the " + traced + "time of " + phrase(stage_title(run, main.name));
  }
}

// Computing and the largest of the other bins, a second one where it is large too: what matters is said.
std::string limit(const Run& run, const std::optional<MainStage>& main) {
  if (!main) return providers_sentence(run);
  if (is_incomplete(run)) return "What the GPU did in that time is not known.";  // what is missing would look like waiting
  if (!main->budget || main->budget->wall_ns <= 0)
    return has_iterations(run) ? providers_sentence(run) : "What the GPU did in that time was not captured.";
  const Budget& budget = *main->budget;
  const auto share = [&](Ns Budget::* time) { return static_cast<double>(budget.*time) / static_cast<double>(budget.wall_ns); };
  std::vector<BudgetBin> others(kBudgetBins.begin() + 1, kBudgetBins.end());
  std::stable_sort(others.begin(), others.end(), [&](const BudgetBin& a, const BudgetBin& b) { return share(a.time) > share(b.time); });
  others.resize(share(others[0].time) < kWorthSaying ? 0 : share(others[1].time) < kSecondWorthSaying ? 1 : 2);
  std::vector<std::string> parts = {fmt::format("computes {} of {}", rough_share(share(&Budget::gpu_compute_ns)), whole_time(run, *main))};
  for (const BudgetBin& bin : others) parts.push_back(fmt::format("{} {}", bin.plain, rough_share(share(bin.time))));
  return fmt::format("The GPU {}{}.", join_and(parts), host_part(run, *main, others));
}

std::string first_action(const Run& run) {
  const Finding* finding = first_to_work_on(run);
  if (finding == nullptr) return no_advice(run);
  const std::string worth = worth_text(run, *finding);
  const std::string why = uncapitalised(phrase(plain_text(*finding), kLongSentence));
  const std::string action = uncapitalised(phrase(action_text(run, *finding), kLongSentence));
  if (action.empty()) return fmt::format("First to fix: {}{}.", why, worth.empty() ? "" : "; that " + worth);
  return fmt::format("First action: {}; {}.", action, worth.empty() ? why : "it " + worth);
}

// What is decided goes before what is not, however large. The times that are shown are not ncu's, which replays kernels.
const StageSlowdown* worst_slowdown(const Run& run) {
  const auto rank = [](const StageSlowdown& each) {
    return std::pair(each.verdict && *each.verdict != SlowdownVerdict::kUndecidable, *each.slowdown);
  };
  const StageSlowdown* worst = nullptr;
  for (const auto& slowdown : run.perturbation.stages)
    if (slowdown.profiler != PassKind::kNcu && slowdown.slowdown && (worst == nullptr || rank(slowdown) > rank(*worst))) worst = &slowdown;
  return worst;
}

std::string slowed_by(const StageSlowdown& slowdown, double limit) {
  const auto verdict = slowdown.verdict;
  if (verdict == SlowdownVerdict::kUnderLimit) return "by less than " + rough_share(limit);
  if (verdict == SlowdownVerdict::kOverLimit) return "by about " + rough_share(*slowdown.slowdown);
  if (!slowdown.low || !slowdown.high || !(*slowdown.high - *slowdown.low <= kWidestRange) || *slowdown.high <= 0) return {};
  if (*slowdown.low <= 0) return "by at most " + rough_share(*slowdown.high);
  return fmt::format("by {} to {}", rough_share(*slowdown.low), rough_share(*slowdown.high));
}

// "profiling slowed decode_step by about 18 %; unprofiled, it takes 3.6 ms", as far as that is known.
std::string profiling_cost(const Run& run, const StageSlowdown& slowdown) {
  const double median_ns = unprofiled_ns(slowdown).value_or(0);
  const std::string by = slowed_by(slowdown, run.perturbation.limit), stage = phrase(stage_title(run, slowdown.stage));
  if (by.empty())
    return median_ns > 0 ? fmt::format("unprofiled, {} takes {}", stage, rough_time(median_ns)) : "the profiling overhead is not certain";
  const auto& decision = run.perturbation.decision;
  const bool open =
      decision && std::find(decision->undecided.begin(), decision->undecided.end(), slowdown.stage) != decision->undecided.end();
  const std::string undecided = open ? fmt::format(" ({} of each kind do not decide whether by more than {})",
                                                   plural(decision->passes, "pass", "passes"), rough_share(run.perturbation.limit))
                                     : "";
  return fmt::format("profiling slowed {} {}{}{}", stage, by, undecided,
                     median_ns > 0 ? "; unprofiled, it takes " + rough_time(median_ns) : "");
}

// Of an output token, or of the unit of a program that generates none.
std::string energy_part(const Run& run) {
  if (const auto kwh = generates(run) ? kwh_per_million_tokens(run) : std::nullopt)
    return fmt::format("A million output tokens take about {} kWh of GPU energy", figure_text(*kwh));
  const StageEntry* unit = generates(run) ? nullptr : unit_stage(run);
  for (const StageEnergy& stage : run.energy.stages)
    if (unit != nullptr && stage.stage == unit->name && stage.joules_per_window)
      return fmt::format("{} {} takes about {} of GPU energy", stage_kind(unit->name) == StageKind::kImage ? "An" : "A", unit_noun(run),
                         figure_text(stage.joules_per_window, "J"));
  return {};
}

std::string cost(const Run& run) {
  if (has_iterations(run)) return recording_cost(run);
  if (model_step(run) != nullptr) return "The profiling overhead was not measured; nl-stage profile measures it.";
  const StageSlowdown* slowdown = worst_slowdown(run);
  const std::string of_unit = energy_part(run), energy = of_unit.empty() ? power_text(run) : of_unit;
  if (!tracing_sentence(run).empty()) return energy.empty() ? "" : sentence(energy);  // the overhead is said first
  if (energy.empty() && slowdown == nullptr)
    return "Energy and profiling overhead were not measured; nl-stage run --config deep measures both.";
  if (slowdown == nullptr) return energy + "; profiling overhead was not measured.";
  return sentence(energy + (energy.empty() ? "" : "; ") + profiling_cost(run, *slowdown));
}

bool is_stage(const Phase& phase) {
  const StageKind kind = stage_kind(phase.name);
  return kind != StageKind::kIdle && kind != StageKind::kMixed;
}

// Where its ranges end before their GPU work, that work.
double window_ns(const StageEntry& stage) {
  return stage.runs_on() ? static_cast<double>(*stage.gpu_busy_ns) / static_cast<double>(stage.wall.count) : stage.wall.mean_ns;
}

std::string beside(const std::string& traced, double more, bool predicted) {
  return fmt::format("{}; traced {}, {} {}", predicted ? "predicted without the profiler" : "unprofiled", traced,
                     share_text(std::abs(more)), more < 0 ? "less" : "more");
}

Tile time_tile(const Headline& headline) {
  const TimeSummary* time = headline.times;
  if (time == nullptr) return {headline.what, kNoValue, ""};
  if (const auto bare = headline.bare())
    return {headline.what, time_text(*bare), beside(time_text(time->mean_ns), time->mean_ns / *bare - 1, !headline.unprofiled)};
  // The highest percentile that the measurements support.
  const std::string far = time->p99()    ? "p99 " + time_text(static_cast<double>(*time->p99()))
                          : time->p95_ns ? "p95 " + time_text(static_cast<double>(*time->p95_ns))
                                         : "longest " + time_text(static_cast<double>(time->max_ns));
  return {headline.what, time_text(time->mean_ns), time->count > 1 ? fmt::format("{}, n = {}", far, time->count) : "one measurement"};
}

Tile output_tile(const Run& run) {
  const Headline rate = output_rate(run);
  const std::string whose = rate.traced ? whose_tokens(run) : "";
  std::string note = "over whole iterations" + (whose.empty() ? "" : ", " + whose);
  if (const auto bare = rate.bare()) note += ", " + beside(figure_text(rate.traced), *rate.traced / *bare - 1, !rate.unprofiled);
  return {"Output" + source_label(run), figure_text(rate.best(), "tokens/s"), note};
}

Tile computing_tile(const Run& run, const std::optional<MainStage>& stage) {
  if (!stage || !stage->budget) return {"GPU computing", kNoValue, ""};
  return {"GPU computing",
          share_text(ratio(static_cast<double>(stage->budget->gpu_compute_ns), static_cast<double>(stage->budget->wall_ns))),
          "of the wall time of " + stage_title(run, stage->name)};
}

// The utilisation of the resource that limits the stage.
Tile utilisation_tile(const Run& run, const std::optional<MainStage>& stage) {
  const StageEfficiency* entry = stage ? efficiency_of(run, stage->name) : nullptr;
  if (entry == nullptr) return {"MFU", kNoValue, ""};
  const bool memory = entry->limit == Bound::kMemory;
  return {memory ? "MBU" : "MFU", utilisation_text(memory ? entry->mbu : entry->mfu), "of the peak, " + stage_title(run, stage->name)};
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

// Of a program that generates no tokens: how long its unit takes, and how many there are.
std::vector<Tile> unit_tiles(const Run& run) {
  const StageEntry& unit = *unit_stage(run);
  const std::string noun = unit_noun(run), several = units_noun(run);
  const auto bare = bare_window(run, unit);
  const double best_ns = bare ? bare->ns : unit.wall.mean_ns;
  const std::string note = bare ? beside(time_text(unit.wall.mean_ns), unit.wall.mean_ns / bare->ns - 1, bare->predicted) : "mean, traced";
  return {{capitalised("time per " + noun) + source_label(run), time_text(best_ns), note},
          {capitalised(several), count_text(unit.wall.count + unit.warmup_windows),
           unit.warmup_windows > 0 ? fmt::format("{} of them warm-up", unit.warmup_windows) : "all measured"},
          {capitalised(several) + " per second", figure_text(best_ns > 0 ? std::optional(1e9 / best_ns) : std::nullopt), ""}};
}

Tile energy_tile(const Run& run) {
  if (const StageEntry* unit = generates(run) ? nullptr : unit_stage(run); unit != nullptr) {
    for (const StageEnergy& stage : run.energy.stages)
      if (stage.stage == unit->name && stage.joules_per_window)
        return {"Energy per " + unit_noun(run), figure_text(stage.joules_per_window, "J"), stage_title(run, unit->name)};
    return {"Energy per " + unit_noun(run), kNoValue, ""};
  }
  if (!generates(run)) return {"Energy", kNoValue, ""};
  for (const auto& stage : run.energy.stages)
    if (is_decode(stage.stage) && stage.joules_per_token)
      return {figure_title("joules_per_token"), figure_text(stage.joules_per_token, "J"), stage_title(run, stage.stage)};
  return {figure_title("joules_per_token"), kNoValue, ""};
}

Text problem_text(const Problem& problem) {
  Text out = problem.what;
  if (!problem.where.empty()) out += muted(" (" + problem.where + ")");
  if (!problem.fix.empty()) out += muted(" Fix: " + problem.fix);
  return out;
}

}  // namespace

std::optional<MainStage> main_stage(const Run& run) {
  const Phase* longest = nullptr;
  for (const auto& phase : run.phases.phases)
    if (is_stage(phase) && (longest == nullptr || phase.wall_ns > longest->wall_ns)) longest = &phase;
  if (longest != nullptr && longest->wall_ns > 0 && run.phases.span_ns > 0) {
    const StageEntry* stage = stage_named(run, longest->name);
    return MainStage{longest->name, static_cast<double>(longest->wall_ns) / static_cast<double>(run.phases.span_ns),
                     stage != nullptr && stage->budget ? stage->budget : longest->budget, stage != nullptr ? window_ns(*stage) : 0};
  }
  const StageEntry* largest = nullptr;
  for (const auto& stage : run.stages)
    if (stage.wall.count > 0 && (largest == nullptr || stage.wall.total_ns > largest->wall.total_ns)) largest = &stage;
  if (largest == nullptr) return std::nullopt;
  return MainStage{largest->name, std::nullopt, largest->budget, window_ns(*largest)};
}

std::string plain_stage(const Run& run, const std::string& stage) {
  const StageEntry* entry = stage_named(run, stage);
  const std::string source = entry == nullptr || entry->source == StageSource::kMarked ? "" : ", " + std::string(key_of(entry->source));
  switch (stage_kind(stage)) {
    case StageKind::kPrefill: return fmt::format("reading the prompt (prefill{})", source);
    case StageKind::kDecode: return fmt::format("writing the answer (decode{})", source);
    case StageKind::kDecodeStep: return fmt::format("one step of the answer (decode_step{})", source);
    case StageKind::kRequest: return "a whole request";
    case StageKind::kCapture: return "the steady part of the capture";
    case StageKind::kBatch: return "a batch";
    case StageKind::kTrainStep: return fmt::format("a training step (train_step{})", source);
    case StageKind::kLoadData: return "loading data";
    case StageKind::kForward: return "the forward pass";
    case StageKind::kBackward: return "the backward pass";
    case StageKind::kOptimizer: return "the optimizer";
    case StageKind::kDenoiseStep: return fmt::format("a denoising step (denoise_step{})", source);
    case StageKind::kImage: return "an image";
    case StageKind::kStep: return fmt::format("a step{}", source.empty() ? "" : " (" + source.substr(2) + ")");
    default: return "the stage " + phrase(stage_title(run, stage));
  }
}

std::string phrase(const std::string& text, std::size_t longest) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = static_cast<unsigned char>(text[i]) < 0x20 ? ' ' : text[i];
    const bool ends = c == '.' || c == '!' || c == '?';
    if (ends && (i + 1 == text.size() || static_cast<unsigned char>(text[i + 1]) <= 0x20)) break;
    out += c;
    if (out.size() >= longest && c == ' ') {
      out += "…";
      break;
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::vector<std::string> executive_summary(const Run& run) {
  const auto stage = main_stage(run);
  std::vector<std::string> all = {
      status(run), tracing_sentence(run), speed_sentence(run), quality_sentence(run, stage), limit(run, stage), first_action(run),
      cost(run)};
  if (!all[0].empty()) all[3].clear();  // what failed need not be called good or bad
  std::erase_if(all, [](const std::string& sentence) { return sentence.empty(); });
  if (all.size() > kMaxSentences) all.resize(kMaxSentences);
  return all;
}

Blocks overview(const Run& run) {
  Notice notice{run.status, strong(status_sentence(run.status)), {}};
  for (const auto& problem : run.problems) notice.items.push_back(problem_text(problem));
  return {notice};
}

// What is not known is one line below those that are.
Blocks headline_tiles(const Run& run) {
  const auto stage = main_stage(run);
  std::vector<Tile> tiles = has_iterations(run) ? session_tiles(run)
                            : generates(run) ? std::vector<Tile>{time_tile(first_token(run)), time_tile(per_token(run)), output_tile(run)}
                            : unit_stage(run) != nullptr ? unit_tiles(run)
                                                         : std::vector<Tile>{};
  if (!has_iterations(run) || (stage && stage->budget)) tiles.push_back(computing_tile(run, stage));
  if (!has_iterations(run)) tiles.insert(tiles.end(), {utilisation_tile(run, stage), energy_tile(run)});
  std::vector<std::string> unknown;
  for (const Tile& tile : tiles)
    if (tile.figure == kNoValue) unknown.push_back(tile.title);
  std::erase_if(tiles, [](const Tile& tile) { return tile.figure == kNoValue; });
  Blocks out;
  if (!tiles.empty()) out.emplace_back(Tiles{std::move(tiles)});
  if (!unknown.empty()) out.emplace_back(caption("Not captured: " + join(unknown) + "."));
  return out;
}

std::vector<std::string> facts(const Run& run) {
  std::vector<std::string> out;
  const auto put = [&](const std::string& fact) {
    if (!fact.empty()) out.push_back(fact);
  };
  const auto& gpus = run.hardware.gpus;
  put(run.model.name);
  put(gpus.empty()      ? run.hardware.cpu_model
      : gpus.size() > 1 ? fmt::format("{} × {}", gpus.size(), gpus[0].name.empty() ? "GPU" : gpus[0].name)
                        : gpus[0].name);
  put(run.mode.empty() ? "" : run.mode + " mode");
  const std::string by = captured_by(run.provenance.tracer, run.provenance.meter);
  put(by.empty() ? "" : "captured by " + by);
  put(run.created_at);
  put(run.name.empty() ? "" : run.run_id);  // else it is the title
  return out;
}

Section words(const Run& run) {
  Section out{"summary", "Summary", "In short"};
  for (const std::string& sentence : executive_summary(run)) add(out.blocks, Paragraph{sentence, Role::kLead});
  return out;
}

Section summary(const Run& run) {
  Section out = words(run);
  List actions = action_list(run, false);
  if (!actions.items.empty()) add(out.blocks, Paragraph{strong("Actions, by what they save. Savings overlap; do not add them.")});
  add(out.blocks, std::move(actions));
  return out;
}

}  // namespace nl::exporters::report
