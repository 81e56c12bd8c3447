#include <fmt/core.h>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

// An interval wider than this says nothing; see docs/reports.md.
constexpr double kWidestInterval = 1.0;

bool certain(const StageSlowdown& slowdown) { return !slowdown.low || !slowdown.high || *slowdown.high - *slowdown.low <= kWidestInterval; }

std::string interval_text(const StageSlowdown& slowdown) {
  if (!slowdown.low || !slowdown.high) return kNoValue;
  return certain(slowdown) ? fmt::format("{:.1f} … {:.1f} %", *slowdown.low * 100, *slowdown.high * 100) : "too few passes";
}

Table clocks_table(const std::vector<ClockSummary>& devices) {
  Table table{"Clocks of each GPU",
              numbers({"GPU", "Readings", "Power, mean", "max", "SM clock, min", "median", "max", "Hottest", "Slowed"}) + texts({"Why"})};
  for (const auto& gpu : devices)
    table.rows.push_back(
        {std::to_string(gpu.device), count_cell(gpu.samples), figure_cell(gpu.power_mean_w, "W"), figure_cell(gpu.power_max_w, "W"),
         figure_cell(gpu.sm_clock_min_mhz, "MHz"), figure_cell(gpu.sm_clock_median_mhz, "MHz"), figure_cell(gpu.sm_clock_max_mhz, "MHz"),
         figure_cell(gpu.temperature_max_c, "°C"), share_cell(gpu.throttled_share), text_cell(join(gpu.throttle_reasons))});
  return table;
}

}  // namespace

Section overhead(const Run& run) {
  Section out{"perturbation", "Overhead", "Profiler overhead"};
  if (run.perturbation.stages.empty()) {
    out.blocks = {not_captured(run.perturbation.note, "", "Not measured")};
    return out;
  }
  Table table{"Slowdown by profiler and stage",
              {{"Profiler"}, {"Stage"}, {"Passes", kRight}, {"Slower by", kRight}, {"95 % interval", kRight}, {"Verdict"}}};
  for (const auto& slowdown : run.perturbation.stages)
    table.rows.push_back({key_cell(slowdown.profiler), text_cell(stage_title(run, slowdown.stage)),
                          fmt::format("{} / {}", slowdown.bare_ns.size(), slowdown.profiled_ns.size()),
                          share_cell(certain(slowdown) ? slowdown.slowdown : std::nullopt), interval_text(slowdown),
                          slowdown.verdict ? Cell(std::string(key_of(*slowdown.verdict))) : text_cell(slowdown.note)});
  out.blocks = {table, Paragraph{"Passes: unprofiled / profiled." +
                                 (run.perturbation.order.empty() ? "" : " Order: " + run.perturbation.order + ".")}};
  add(out.blocks, notes(run.perturbation.notes));
  return out;
}

Section energy(const Run& run) {
  Section out{"energy", "Energy", "Energy and clocks"};
  const Energy& energy = run.energy;
  if (energy.stages.empty() && energy.devices.empty()) {
    out.blocks = {not_captured(energy.note, "", "Not measured")};
    return out;
  }
  if (!energy.pass.empty())
    add(out.blocks,
        Paragraph{fmt::format("Sampled during the pass {}{}{}.", energy.pass, energy.source == EnergySource::kNone ? "" : ", from the ",
                              energy.source == EnergySource::kNone ? "" : key_of(energy.source))});
  Table table{"Energy of each stage",
              {{"Stage"}, {"Per window", kRight}, {"Per token", kRight}, {"Mean power", kRight}, {"Readings", kRight}, {"Note"}}};
  for (const auto& stage : energy.stages)
    table.rows.push_back({text_cell(stage_title(run, stage.stage)), figure_cell(stage.joules_per_window, "J"),
                          figure_cell(stage.joules_per_token, "J"), figure_cell(stage.mean_power_w, "W"), count_cell(stage.samples),
                          text_cell(stage.note)});
  if (!generates(run)) drop_columns(table, {"Per token"});
  add(out.blocks, std::move(table));
  add(out.blocks, clocks_table(energy.devices));
  return out;
}

}  // namespace nl::exporters::report
