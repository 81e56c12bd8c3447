#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/links.h"
#include "exporters/report/text/run_text.h"

namespace nl::exporters::report {
namespace {

constexpr std::size_t kMaxCurves = 48, kMaxValues = 600, kMaxWindows = 200;

bool names(const std::string& name, const char* part) { return name.find(part) != std::string::npos; }

std::optional<double> finite(const std::optional<double>& value) { return value && std::isfinite(*value) ? value : std::nullopt; }

// As many values as there are, up to kMaxValues; beyond that, means of neighbours.
std::vector<std::optional<double>> drawn_values(const ActivityCurve& curve) {
  const std::size_t each = (curve.values.size() + kMaxValues - 1) / kMaxValues;
  std::vector<std::optional<double>> out;
  for (std::size_t at = 0; at < curve.values.size(); at += each) {
    double sum = 0;
    std::size_t known = 0;
    for (std::size_t i = at; i < std::min(at + each, curve.values.size()); ++i)
      if (const auto value = finite(curve.values[i])) sum += *value, ++known;
    out.push_back(known > 0 ? std::optional(sum / static_cast<double>(known)) : std::nullopt);
  }
  return out;
}

struct Extent {
  double mean = 0, most = 0;
  std::size_t known = 0;
};
Extent extent_of(const ActivityCurve& curve) {
  Extent out;
  for (const auto& each : curve.values)
    if (const auto value = finite(each)) {
      out.most = out.known == 0 ? *value : std::max(out.most, *value);
      out.mean += *value;
      ++out.known;
    }
  if (out.known > 0) out.mean /= static_cast<double>(out.known);
  return out;
}

bool percentage(const ActivityCurve& curve) { return unit_of(curve.metric) == MetricUnit::kPercent; }

const char* curve_colour(const std::string& metric) {
  return names(metric, "tensor")  ? "b-sync"
         : names(metric, "dram")  ? "b-copy"
         : names(metric, "warps") ? "b-queue"
         : names(metric, "sm__")  ? "b-compute"
                                  : "b-host";
}

double end_of(const ActivityCurve& curve) {
  return static_cast<double>(curve.start_ns) + static_cast<double>(curve.step_ns) * static_cast<double>(curve.values.size());
}

// Which GPU is said only where there are several. All percentages have one scale, so that they can be compared.
CurveChart::Curve drawn_curve(const ActivityCurve& curve, double start_ns, double most_percent, bool several_gpus) {
  const Extent extent = extent_of(curve);
  const std::string gpu = several_gpus ? fmt::format("GPU {}: ", curve.device) : std::string();
  const auto figure = [&](double value) { return metric_text(curve.metric, value); };
  CurveChart::Curve out;
  out.title = curve.title.empty() ? curve.metric : curve.title;
  out.top = percentage(curve) ? std::min(100.0, round_up(most_percent)) : round_up(extent.most);
  out.scale = gpu + "0 to " + figure(out.top);
  out.mean = extent.known > 0 ? "mean " + figure(extent.mean) : "no sample";
  out.tip = extent.known > 0 ? fmt::format("{}{}: mean {}, most {}; a value every {}; {}", gpu, out.title, figure(extent.mean),
                                           figure(extent.most), time_text(static_cast<double>(curve.step_ns)), curve.metric)
                             : gpu + out.title + ": no sample";
  out.colour = curve_colour(curve.metric);
  out.start_ns = static_cast<double>(curve.start_ns) - start_ns;
  out.end_ns = end_of(curve) - start_ns;
  out.values = drawn_values(curve);
  return out;
}

std::vector<CurveChart::Window> drawn_windows(const Run& run, double start_ns, double span_ns) {
  std::vector<CurveChart::Window> out;
  if (run.iterations.list.size() > kMaxWindows) return out;
  std::size_t number = 0;
  for (const auto& iteration : run.iterations.list) {
    ++number;
    const double start = static_cast<double>(iteration.start_ns) - start_ns, end = start + static_cast<double>(iteration.wall_ns);
    if (end > 0 && start < span_ns && end > start)
      out.push_back({start, end, iteration.warmup,
                     fmt::format("iteration {}{}: {}", number, iteration.warmup ? ", warm-up" : "", time_text(end - start))});
  }
  return out;
}

std::vector<const ActivityCurve*> drawable_curves(const Run& run) {
  std::vector<const ActivityCurve*> out;
  for (const auto& curve : run.activity)
    if (!curve.values.empty() && curve.step_ns > 0 && out.size() < kMaxCurves) out.push_back(&curve);
  return out;
}

}  // namespace

Section timeline(const Run& run) {
  Section out{"timeline", "Timeline", "Timeline", {}, true};
  if (!shows_timeline(run)) {
    out.blocks = {missing("Not captured: the run has no iteration with ranges or GPU work in it.")};
    return out;
  }
  out.blocks = {Paragraph{"From the whole of it down to one slice. \"Keys\" says what moves it; a click pins a slice and tells all of it."},
                Figure(Explorer{"Timeline of the capture: ranges, CUDA calls and GPU work, with the stages' steps"})};
  return out;
}

Section activity(const Run& run) {
  Section out{"activity", "Activity", "The GPU over time", {}, true};
  const auto curves = drawable_curves(run);
  if (curves.empty()) {
    out.drawn_only = false;
    if (run.activity.empty()) add(out.blocks, missing(activity_note(run)));
    return out;
  }
  double start = static_cast<double>(curves[0]->start_ns), end = end_of(*curves[0]), most_percent = 0;
  bool several = false;
  for (const auto* curve : curves) {
    start = std::min(start, static_cast<double>(curve->start_ns));
    end = std::max(end, end_of(*curve));
    several = several || curve->device != curves[0]->device;
    if (percentage(*curve)) most_percent = std::max(most_percent, extent_of(*curve).most);
  }
  CurveChart chart;
  chart.span_ns = end - start;
  chart.label = fmt::format("{} over {}", plural(curves.size(), "curve"), time_text(chart.span_ns));
  for (const auto* curve : curves) {
    chart.curves.push_back(drawn_curve(*curve, start, most_percent, several));
    chart.label += fmt::format("; {} {}", chart.curves.back().title, chart.curves.back().mean);
  }
  chart.windows = drawn_windows(run, start, chart.span_ns);
  std::string shown = fmt::format("Sampled beside the trace: {} from {:.6f} s of the capture.", time_text(chart.span_ns), start / 1e9);
  if (!chart.windows.empty()) shown += " Iterations are shaded, warm-up paler.";
  if (curves.size() < run.activity.size()) shown += " " + plural(run.activity.size() - curves.size(), "more curve") + " in run.json.";
  out.blocks = {Paragraph{shown}, Figure(std::move(chart))};
  return out;
}

}  // namespace nl::exporters::report
