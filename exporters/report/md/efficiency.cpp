#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/figure_text.h"
#include "exporters/report/markdown.h"
#include "exporters/report/md/sections.h"
#include "model/words.h"

namespace nl::exporters::report_md {
namespace {

constexpr std::size_t kTopPoints = 20;

std::string peaks(const DevicePeaks& peaks) {
  std::vector<std::string> roofs;
  for (const auto& [dtype, rate] : peaks.flops_per_s)
    roofs.push_back(fmt::format("{} {}", markdown_text(dtype), flops_rate_text(rate)));
  std::string text = fmt::format("Dense peaks of {}{}: {}; memory {}. Source: {}.\n", markdown_text(peaks.name),
                                 peaks.derived ? " (**derived**, not from a table)" : "",
                                 roofs.empty() ? std::string("none known") : join(roofs),
                                 bytes_rate_text(peaks.bytes_per_s), markdown_text(peaks.source));
  for (const auto& note : peaks.notes) text += fmt::format("\n{}\n", markdown_text(note));
  return text;
}

std::string terms(const StageEfficiency& entry) {
  if (entry.terms.empty()) return {};
  MarkdownTable table({{"term", false}, {"formula", false}, {"FLOP", true}, {"bytes", true}});
  for (const auto& term : entry.terms)
    table.add(
        {markdown_text(term.name), markdown_code_cell(term.formula), flops_text(term.flops), bytes_text(term.bytes)});
  table.add({"**sum**", "", flops_text(entry.flops), bytes_text(entry.bytes)});
  std::string text = fmt::format("\nWork of one window of {}{}:\n\n", markdown_text(entry.stage),
                                 entry.dtype.empty() ? "" : " (" + markdown_text(entry.dtype) + ")") +
                     table.text();
  if (entry.assumptions.empty()) return text;
  return text + fmt::format("\nAssumed: {}.\n", markdown_text(join(entry.assumptions, "; ")));
}

std::string interval(const StageSlowdown& slowdown) {
  return slowdown.low && slowdown.high ? fmt::format("{:.1f} … {:.1f} %", *slowdown.low * 100, *slowdown.high * 100)
                                       : kNoValue;
}

std::string clocks(const std::vector<ClockSummary>& devices) {
  MarkdownTable table({{"GPU", true},
                       {"readings", true},
                       {"power, mean", true},
                       {"max", true},
                       {"SM clock, min", true},
                       {"median", true},
                       {"max", true},
                       {"hottest", true},
                       {"slowed", true},
                       {"why", false}});
  for (const auto& device : devices)
    table.add({std::to_string(device.device), std::to_string(device.samples), figure_text(device.power_mean_w, "W"),
               figure_text(device.power_max_w, "W"), figure_text(device.sm_clock_min_mhz, "MHz"),
               figure_text(device.sm_clock_median_mhz, "MHz"), figure_text(device.sm_clock_max_mhz, "MHz"),
               figure_text(device.temperature_max_c, "°C"), share_text(device.throttled_share),
               markdown_text(join(device.throttle_reasons))});
  return table.empty() ? std::string() : "\n" + table.text();
}

}  // namespace

std::string efficiency(const Run& run) {
  std::string text = "\n## How close to the hardware's limits\n\n";
  text += run.peaks ? peaks(*run.peaks) : "The peaks of the GPU are not known.\n";
  if (run.efficiency.empty())
    return text +
           "\nMFU and MBU are not computed: the model's shape is not known. Name it with --model: a file of "
           "conf/model, or a Hugging Face config.json.\n";
  MarkdownTable table({{"stage", false},
                       {"MFU", true},
                       {"MBU", true},
                       {"MFU, GPU busy", true},
                       {"MBU, GPU busy", true},
                       {"achieved", true},
                       {"FLOP/B", true},
                       {"ideal", true},
                       {"limit", false}});
  std::string details;
  for (const auto& entry : run.efficiency) {
    table.add({markdown_text(entry.stage), utilisation_text(entry.mfu), utilisation_text(entry.mbu),
               utilisation_text(entry.mfu_busy), utilisation_text(entry.mbu_busy), flops_rate_text(entry.flops_per_s),
               figure_text(entry.intensity), entry.ideal_ns ? time_text(*entry.ideal_ns) : kNoValue,
               entry.limit ? std::string(key_of(*entry.limit)) : kNoValue});
    if (!entry.note.empty())
      details += fmt::format("\n- {}: {}\n", markdown_text(entry.stage), markdown_text(entry.note));
    details += terms(entry);
  }
  return text + "\nMFU and MBU over the wall time, and over the time in which the GPU computes.\n\n" + table.text() +
         details;
}

std::string roofline(const Run& run) {
  if (run.roofline.points.empty() && run.roofline.notes.empty()) return {};
  std::string text = "\n## Roofline\n\n";
  MarkdownTable table({{"kernel", false},
                       {"stage", false},
                       {"FLOP/B", true},
                       {"achieved", true},
                       {"roof", true},
                       {"of roof", true},
                       {"precision", false},
                       {"bound by", false},
                       {"margin", true}});
  const std::size_t shown = std::min(kTopPoints, run.roofline.points.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const RooflinePoint& point = run.roofline.points[i];
    table.add({markdown_text(short_kernel_name(point.kernel)), point.stage ? markdown_text(*point.stage) : kNoValue,
               figure_text(point.intensity), flops_rate_text(point.flops_per_s),
               flops_rate_text(point.roof_flops_per_s), share_text(point.roof_share), markdown_text(point.precision),
               point.bound_by ? std::string(key_of(*point.bound_by)) : kNoValue,
               point.margin ? fmt::format("{:.0f} points", *point.margin) : kNoValue});
  }
  if (!table.empty()) text += table.text();
  if (shown < run.roofline.points.size())
    text += fmt::format("\n{} more launches in run.json.\n", run.roofline.points.size() - shown);
  if (!run.roofline.notes.empty() && !table.empty()) text += "\n";
  for (const auto& note : run.roofline.notes) text += fmt::format("- {}\n", markdown_text(note));
  return text;
}

std::string perturbation(const Run& run) {
  std::string text = "\n## What the profilers cost\n\n";
  if (run.perturbation.stages.empty())
    return text + fmt::format("Not measured{}.\n",
                              run.perturbation.note.empty() ? "" : ": " + markdown_text(run.perturbation.note));
  MarkdownTable table({{"profiler", false},
                       {"stage", false},
                       {"passes", true},
                       {"slower by", true},
                       {"95 % interval", true},
                       {"verdict", false}});
  for (const auto& slowdown : run.perturbation.stages)
    table.add({markdown_text(slowdown.profiler), markdown_text(slowdown.stage),
               fmt::format("{} / {}", slowdown.bare_ns.size(), slowdown.profiled_ns.size()),
               share_text(slowdown.slowdown), interval(slowdown),
               markdown_text(slowdown.verdict ? key_of(*slowdown.verdict) : slowdown.note)});
  text += table.text() + "\nPasses: without / with the profiler.";
  if (!run.perturbation.order.empty()) text += fmt::format(" Order: {}.", markdown_text(run.perturbation.order));
  text += "\n";
  for (const auto& note : run.perturbation.notes) text += fmt::format("\n- {}\n", markdown_text(note));
  return text;
}

std::string energy(const Run& run) {
  std::string text = "\n## Energy and clocks\n\n";
  if (run.energy.stages.empty() && run.energy.devices.empty())
    return text +
           fmt::format("Not measured{}.\n", run.energy.note.empty() ? "" : ": " + markdown_text(run.energy.note));
  MarkdownTable table({{"stage", false},
                       {"a window", true},
                       {"a token", true},
                       {"mean power", true},
                       {"readings", true},
                       {"note", false}});
  for (const auto& stage : run.energy.stages)
    table.add({markdown_text(stage.stage), figure_text(stage.joules_per_window, "J"),
               figure_text(stage.joules_per_token, "J"), figure_text(stage.mean_power_w, "W"),
               std::to_string(stage.samples), markdown_text(stage.note)});
  if (!run.energy.pass.empty())
    text += fmt::format("Sampled during the pass {}{}.\n\n", markdown_text(run.energy.pass),
                        run.energy.source.empty() ? "" : ", from the " + markdown_text(run.energy.source));
  if (!table.empty()) text += table.text();
  return text + clocks(run.energy.devices);
}

}  // namespace nl::exporters::report_md
