#include <fmt/core.h>

#include <cmath>

#include "exporters/report/sections/executive_summary.h"
#include "exporters/report/sections/sections.h"
#include "exporters/report/text/run_text.h"
#include "model/run_metrics.h"

namespace nl::exporters::report {
namespace {

std::string beside(const std::string& traced, double more) {
  return fmt::format("unprofiled; traced {}, {} {}", traced, share_text(std::abs(more)), more < 0 ? "less" : "more");
}

Tile time_tile(const Headline& headline) {
  const TimeSummary* time = headline.times;
  if (time == nullptr) return {headline.what, kNoValue, ""};
  if (headline.unprofiled)
    return {headline.what, time_text(*headline.unprofiled), beside(time_text(time->mean_ns), time->mean_ns / *headline.unprofiled - 1)};
  return {headline.what, time_text(time->mean_ns),
          time->count > 1 ? fmt::format("p99 {}, n = {}", time_text(static_cast<double>(time->p99_ns)), time->count) : "one measurement"};
}

Tile output_tile(const Run& run) {
  const Headline rate = output_rate(run);
  const std::string whose = rate.traced ? whose_tokens(run) : "";
  std::string note = "over whole iterations" + (whose.empty() ? "" : ", " + whose);
  if (rate.unprofiled) note += ", " + beside(figure_text(rate.traced), *rate.traced / *rate.unprofiled - 1);
  return {"Output" + source_label(run), figure_text(rate.best(), "tokens/s"), note};
}

Tile computing_tile(const Run& run, const std::optional<MainStage>& stage) {
  if (!stage || !stage->budget) return {"GPU computing", kNoValue, ""};
  return {"GPU computing",
          share_text(ratio(static_cast<double>(stage->budget->gpu_compute_ns), static_cast<double>(stage->budget->wall_ns))),
          "of the wall time of " + stage_title(run, stage->name)};
}

// Of the resource that limits the stage.
Tile utilisation_tile(const Run& run, const std::optional<MainStage>& stage) {
  const StageEfficiency* entry = stage ? efficiency_of(run, stage->name) : nullptr;
  if (entry == nullptr) return {"MFU", kNoValue, ""};
  const bool memory = entry->limit == Bound::kMemory;
  return {memory ? "MBU" : "MFU", utilisation_text(memory ? entry->mbu : entry->mfu), "of the peak, " + stage_title(run, stage->name)};
}

Tile energy_tile(const Run& run) {
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

Blocks overview(const Run& run) {
  Notice notice{run.status, strong(status_sentence(run.status)), {}};
  for (const auto& problem : run.problems) notice.items.push_back(problem_text(problem));
  const auto stage = main_stage(run);
  std::vector<Tile> tiles = has_iterations(run)
                                ? session_tiles(run)
                                : std::vector<Tile>{time_tile(first_token(run)), time_tile(per_token(run)), output_tile(run)};
  if (!has_iterations(run) || (stage && stage->budget)) tiles.push_back(computing_tile(run, stage));
  if (!has_iterations(run)) tiles.insert(tiles.end(), {utilisation_tile(run, stage), energy_tile(run)});
  return {notice, Tiles{std::move(tiles)}};
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
  return out;
}

Section summary(const Run& run) {
  Section out{"summary", "Summary", "In short"};
  for (const std::string& sentence : executive_summary(run)) add(out.blocks, Paragraph{sentence, Role::kLead});
  List actions = action_list(run, false);
  if (!actions.items.empty()) add(out.blocks, Paragraph{strong("Actions, by what they save. Savings overlap; do not add them.")});
  add(out.blocks, std::move(actions));
  return out;
}

}  // namespace nl::exporters::report
