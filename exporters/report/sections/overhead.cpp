#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/sections/executive_summary.h"
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

const char* tracer_name(PassKind profiler) { return profiler == PassKind::kNsys ? "nsys" : "the collector"; }

// "31 %", "28 to 42 %"
std::string range_text(double low, double high) {
  const std::string least = rough_share(low), most = rough_share(high);
  if (least == most) return most;
  return low > 0 ? fmt::format("{:.0f} to {}", low * 100, most) : "at most " + most;
}

const char* estimated(const TracingCost& cost) { return cost.basis == CostBasis::kEstimated ? "an estimated " : ""; }

// "; the collector (--set capture.prefer=cupti) would add an estimated 4 to 16 %", "… would add 4 to 7 %, by a calibration on this machine"
std::string other_tracer(const Run& run) {
  if (run.perturbation.tracing.size() < 2) return {};
  const TracingCost &own = run.perturbation.tracing[0], &other = run.perturbation.tracing[1];
  if (!(other.low + other.high < own.low + own.high)) return {};  // ranges may overlap: by their middles
  const bool said = own.basis == CostBasis::kCalibrated;
  return fmt::format("; {} (--set capture.prefer=cupti) would add {}{}{}", tracer_name(other.profiler), estimated(other),
                     range_text(other.low, other.high),
                     other.basis == CostBasis::kCalibrated && !said ? ", by a calibration on this machine" : "");
}

Table tracing_table(const Run& run) {
  Table table{"What tracing adds to a step", {{"Tracer"}, {"Stage"}, {"Adds", kRight}, {"Basis"}, {"Launches per window"}}};
  for (const TracingCost& cost : run.perturbation.tracing)
    table.rows.push_back({key_cell(cost.profiler), text_cell(stage_title(run, cost.stage)), range_text(cost.low, cost.high),
                          key_cell(cost.basis), figure_cell(cost.launches_per_window)});
  return table;
}

Table calibration_table(const std::vector<CallCost>& costs) {
  Table table{"What tracing adds to a call on this machine",
              {{"Tracer"}, {"Call"}, {"Untraced", kRight}, {"Adds", kRight}, {"95 % interval", kRight}, {"Options"}}};
  for (const CallCost& cost : costs)
    table.rows.push_back({key_cell(cost.profiler), key_cell(cost.call), fmt::format("{:.2f} us", cost.bare_ns / 1e3),
                          fmt::format("{:.2f} us", cost.ns / 1e3), fmt::format("{:.2f} … {:.2f} us", cost.low_ns / 1e3, cost.high_ns / 1e3),
                          text_cell(cost.options)});
  return table;
}

void add_tracing(const Run& run, Blocks& blocks) {
  const auto& costs = run.perturbation.tracing;
  const auto any = [&](CostBasis basis) {
    return std::any_of(costs.begin(), costs.end(), [&](const TracingCost& cost) { return cost.basis == basis; });
  };
  if (any(CostBasis::kEstimated) || any(CostBasis::kCalibrated)) add(blocks, tracing_table(run));
  if (any(CostBasis::kEstimated))
    add(blocks, Paragraph{"Estimated: launches per window, times what a launch costs more under that tracer on another machine "
                          "(conf/tracing), as far as the GPU does not work meanwhile."});
  if (any(CostBasis::kCalibrated))
    add(blocks, Paragraph{"Calibrated: launches per window, times what a launch costs more under that tracer on this machine, by a loop of "
                          "launches beside the workload, as far as the GPU does not work meanwhile."});
  if (!run.perturbation.calibration.costs.empty()) add(blocks, calibration_table(run.perturbation.calibration.costs));
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

std::string tracing_sentence(const Run& run) {
  if (run.perturbation.tracing.empty() || !(run.perturbation.tracing[0].low > run.perturbation.limit)) return {};
  const TracingCost& own = run.perturbation.tracing[0];
  const std::string step = plain_stage(run, own.stage), by = range_text(own.low, own.high);
  if (own.basis == CostBasis::kMeasured)
    return fmt::format("Tracing with {} makes {} take {} longer than without the profiler, so quote the unprofiled times{}.",
                       tracer_name(own.profiler), step, by, other_tracer(run));
  return fmt::format("Tracing with {} makes {} take {}{} longer than without the profiler{}{}, and the times here include that{}.",
                     tracer_name(own.profiler), step, estimated(own), by,
                     own.basis == CostBasis::kCalibrated ? ", by a calibration on this machine" : "",
                     run.provenance.tracer == Tracer::kImport ? "" : " (--config deep measures it)", other_tracer(run));
}

Section overhead(const Run& run) {
  Section out{"perturbation", "Overhead", "Profiler overhead"};
  if (run.perturbation.stages.empty()) {
    out.blocks = {not_captured(run.perturbation.note, "", "Not measured")};
    add_tracing(run, out.blocks);
    return out;
  }
  Table table{"Slowdown by profiler and stage",
              {{"Profiler"}, {"Stage"}, {"Passes", kRight}, {"Slower by", kRight}, {"95 % interval", kRight}, {"Verdict"}}};
  for (const auto& slowdown : run.perturbation.stages)
    table.rows.push_back({key_cell(slowdown.profiler), text_cell(stage_title(run, slowdown.stage)),
                          fmt::format("{} / {}", slowdown.bare_ns.size(), slowdown.profiled_ns.size()),
                          share_cell(certain(slowdown) ? slowdown.slowdown : std::nullopt), interval_text(slowdown),
                          slowdown.verdict ? Cell(std::string(key_of(*slowdown.verdict))) : text_cell(slowdown.note)});
  const char* turns = run.sampled.empty() ? "" : " Where some of the steps were traced: rows of untraced and of traced windows, in turns.";
  out.blocks = {table, Paragraph{"Passes: unprofiled / profiled." + std::string(turns) +
                                 (run.perturbation.order.empty() ? "" : " Order: " + run.perturbation.order + ".")}};
  if (run.perturbation.decision) add(out.blocks, Paragraph{run.perturbation.decision->summary + "."});
  add(out.blocks, notes(run.perturbation.notes));
  add_tracing(run, out.blocks);
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
