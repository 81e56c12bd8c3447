#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "exporters/report/counter_text.h"
#include "exporters/report/figure_text.h"
#include "exporters/report/html/html_text.h"
#include "exporters/report/html/sections.h"
#include "exporters/report/html/svg_time_axis.h"

namespace nl::exporters::html {
namespace {

constexpr std::size_t kMaxCurves = 48, kMaxValues = 600, kMaxIterations = 200;
constexpr int kCurvePx = 66, kAreaPx = 56;

bool percentage(const ActivityCurve& curve) { return std::strcmp(metric_unit(curve.metric), "%") == 0; }

std::optional<double> finite(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

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
  bool known = false;
};
Extent extent_of(const ActivityCurve& curve) {
  Extent out;
  double sum = 0;
  std::size_t known = 0;
  for (const auto& each : curve.values)
    if (const auto value = finite(each)) {
      out.most = known == 0 ? *value : std::max(out.most, *value);
      sum += *value;
      ++known;
    }
  out.known = known > 0;
  out.mean = known > 0 ? sum / static_cast<double>(known) : 0;
  return out;
}

std::string figure(const ActivityCurve& curve, double value) { return metric_text(curve.metric, value); }

const char* colour_of(const std::string& metric) {
  const auto has = [&](const char* part) { return metric.find(part) != std::string::npos; };
  return has("tensor") ? "b-sync" : has("dram") ? "b-copy" : has("warps") ? "b-queue" : has("sm__") ? "b-compute" : "b-host";
}

// Steps, because each value is a mean over one; where there was no sample, nothing is drawn.
std::string area(const std::vector<std::optional<double>>& values, double top) {
  std::string path;
  bool open = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) {
      if (open) path += "V100z";
      open = false;
      continue;
    }
    if (!open) path += fmt::format("M{} 100", i);
    open = true;
    path += fmt::format("V{:.4g}H{}", 100 - 100 * std::clamp(*values[i] / top, 0.0, 1.0), i + 1);
  }
  return open ? path + "V100z" : path;
}

class Picture {
 public:
  explicit Picture(const Run& run) : run_(run) {
    for (const auto& curve : run.activity) {
      if (curve.values.empty() || curve.step_ns <= 0 || curves_.size() == kMaxCurves) continue;
      const double start = static_cast<double>(curve.start_ns);
      const double end = start + static_cast<double>(curve.step_ns) * static_cast<double>(curve.values.size());
      start_ns_ = curves_.empty() ? start : std::min(start_ns_, start);
      end_ns_ = curves_.empty() ? end : std::max(end_ns_, end);
      if (percentage(curve)) most_percent_ = std::max(most_percent_, extent_of(curve).most);
      curves_.push_back(&curve);
    }
  }
  bool empty() const { return curves_.empty(); }
  std::size_t curves() const { return curves_.size(); }
  bool shaded() const { return !run_.iterations.list.empty() && run_.iterations.list.size() <= kMaxIterations; }
  double start_ns() const { return start_ns_; }
  double span_ns() const { return end_ns_ - start_ns_; }
  std::string markup() const;

 private:
  double percent(double ns) const { return std::clamp(100 * (ns - start_ns_) / span_ns(), 0.0, 100.0); }
  std::string gpu(const ActivityCurve& curve) const;
  double top(const ActivityCurve& curve) const;
  std::string lane(const ActivityCurve& curve, int y) const;
  std::string iterations(int height) const;

  const Run& run_;
  std::vector<const ActivityCurve*> curves_;
  double start_ns_ = 0, end_ns_ = 0, most_percent_ = 0;
};

// All percentages have one scale, so that they can be compared.
double Picture::top(const ActivityCurve& curve) const {
  return percentage(curve) ? std::min(100.0, round_up(most_percent_)) : round_up(extent_of(curve).most);
}

std::string title_of(const ActivityCurve& curve) { return curve.title.empty() ? curve.metric : curve.title; }

// Which GPU is said only where there are several.
std::string Picture::gpu(const ActivityCurve& curve) const {
  const bool several = std::any_of(curves_.begin(), curves_.end(), [&](const ActivityCurve* other) { return other->device != curve.device; });
  return several ? fmt::format("GPU {}: ", curve.device) : std::string();
}

std::string Picture::lane(const ActivityCurve& curve, int y) const {
  const auto values = drawn_values(curve);
  const Extent extent = extent_of(curve);
  const double start = static_cast<double>(curve.start_ns);
  const double left = percent(start);
  const double right = percent(start + static_cast<double>(curve.step_ns) * static_cast<double>(curve.values.size()));
  const std::string tip =
      extent.known ? fmt::format("{}{}: mean {}, most {}; a value every {}; {}", gpu(curve), title_of(curve),
                                 figure(curve, extent.mean), figure(curve, extent.most),
                                 time_text(static_cast<double>(curve.step_ns)), curve.metric)
                   : gpu(curve) + title_of(curve) + ": no sample";
  return fmt::format(
      "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{0}\" y2=\"{0}\"/><svg x=\"{1:.4f}%\" y=\"{2}\" width=\"{3:.4f}%\" "
      "height=\"{4}\" viewBox=\"0 0 {5} 100\" preserveAspectRatio=\"none\"><title>{6}</title><path class=\"{7}\" "
      "d=\"{8}\"/></svg>",
      y + kAreaPx, left, y, right - left, kAreaPx, values.size(), text(tip), colour_of(curve.metric),
      area(values, top(curve)));
}

std::string Picture::iterations(int height) const {
  std::string out;
  if (!shaded()) return out;
  std::size_t number = 0;
  for (const auto& iteration : run_.iterations.list) {
    ++number;
    const double start = static_cast<double>(iteration.start_ns), end = start + static_cast<double>(iteration.wall_ns);
    if (end <= start_ns_ || start >= end_ns_ || end <= start) continue;
    out += fmt::format(
        "<rect class=\"window{}\" x=\"{:.4f}%\" y=\"{}\" width=\"{:.4f}%\" height=\"{}\"><title>{}</title></rect>",
        iteration.warmup ? " warmup" : "", percent(start), kTimeAxisPx, percent(end) - percent(start),
        height - kTimeAxisPx,
        text(fmt::format("iteration {}{}: {}", number, iteration.warmup ? ", warm-up" : "", time_text(end - start))));
  }
  return out;
}

std::string Picture::markup() const {
  const int height = kTimeAxisPx + static_cast<int>(curves_.size()) * kCurvePx;
  std::string titles = "<div class=\"lanes curves\">", lanes, label;
  int y = kTimeAxisPx + kCurvePx - kAreaPx;
  for (const ActivityCurve* curve : curves_) {
    const Extent extent = extent_of(*curve);
    titles += fmt::format("<span title=\"{0}\"><b>{0}</b><br>{1}0 to {2}<br>{3}</span>", text(title_of(*curve)), gpu(*curve),
                          text(figure(*curve, top(*curve))),
                          text(extent.known ? "mean " + figure(*curve, extent.mean) : std::string("no sample")));
    lanes += lane(*curve, y);
    if (extent.known) label += fmt::format("; {}{} mean {}", gpu(*curve), title_of(*curve), figure(*curve, extent.mean));
    y += kCurvePx;
  }
  return "<div class=\"timeline\">" + titles +
         "</div><div class=\"zoom scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Activity over time; plus and "
         "minus zoom\">" +
         fmt::format("<svg role=\"img\" aria-label=\"{} curves over {}{}\" height=\"{}\">", curves_.size(),
                     time_text(span_ns()), text(label), height) +
         iterations(height) + time_axis(span_ns(), height) + lanes + "</svg></div></div>\n";
}

}  // namespace

std::string activity(const Run& run) {
  const Picture picture(run);
  if (picture.empty()) {
    const auto remark = activity_remark(run);
    if (!remark) return {};
    return section("activity", "The GPU over time",
                   fmt::format("<p class=\"missing\">{}</p>\n", remark_markup(*remark)));
  }
  std::string shown = fmt::format("Sampled beside the trace: {} from {:.6f} s of the capture.",
                                  time_text(picture.span_ns()), picture.start_ns() / 1e9);
  if (picture.shaded()) shown += " Iterations are shaded, warm-up paler.";
  if (picture.curves() < run.activity.size())
    shown += fmt::format(" {} more curves in run.json.", run.activity.size() - picture.curves());
  return section("activity", "The GPU over time", paragraph(shown) + picture.markup());
}

}  // namespace nl::exporters::html
