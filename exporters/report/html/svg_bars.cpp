#include "exporters/report/html/svg_bars.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/budget_bins.h"
#include "exporters/report/figure_text.h"
#include "exporters/report/html/html_text.h"

namespace nl::exporters::html {
namespace {

constexpr double kRoomForLabel = 9;  // percent: about 30 px of a phone's bar, four digits wide

double percent(double value, double whole) {
  return whole > 0 && std::isfinite(value) ? std::clamp(100 * value / whole, 0.0, 100.0) : 0.0;
}

}  // namespace

std::string stacked_bar(const std::string& label, const std::vector<Segment>& segments, double whole) {
  std::string out = fmt::format("<svg class=\"bar\" role=\"img\"{}>", attribute("aria-label", label));
  double at = 0;
  for (const auto& segment : segments) {
    const double width = std::min(percent(segment.value, whole), 100 - at);
    if (width <= 0) continue;
    out += fmt::format("<g><title>{}</title><rect class=\"{}\" x=\"{:.4f}%\" width=\"{:.4f}%\" height=\"100%\"/>",
                       text(segment.tip), segment.colour, at, width);
    if (width >= kRoomForLabel && !segment.label.empty())
      out += fmt::format("<text class=\"in\" x=\"{:.3f}%\" y=\"50%\">{}</text>", at + width / 2, text(segment.label));
    out += "</g>";
    at += width;
  }
  return out + "</svg>";
}

std::string whisker_bar(const std::string& label, double value, double tick, double far, double whole,
                        const std::string& colour, const std::string& tip) {
  std::string out =
      fmt::format("<svg class=\"bar\" role=\"img\"{}><g><title>{}</title>", attribute("aria-label", label), text(tip));
  out += fmt::format("<rect class=\"{}\" width=\"{:.3f}%\" height=\"100%\"/>", colour, percent(value, whole));
  if (far > 0)
    out += fmt::format(
        "<line class=\"far\" x1=\"{0:.3f}%\" x2=\"{1:.3f}%\" y1=\"50%\" y2=\"50%\"/><line class=\"far\" "
        "x1=\"{1:.3f}%\" x2=\"{1:.3f}%\" y1=\"25%\" y2=\"75%\"/>",
        percent(value, whole), percent(far, whole));
  if (tick > 0)
    out += fmt::format("<line class=\"tick\" x1=\"{0:.3f}%\" x2=\"{0:.3f}%\" y1=\"0\" y2=\"100%\"/>",
                       percent(tick, whole));
  return out + "</g></svg>";
}

std::string bar_row(const std::string& label, const std::string& bar, const std::string& figure) {
  return fmt::format("<div class=\"row\"><span class=\"what\">{}</span>{}<span class=\"fig\">{}</span></div>\n", label,
                     bar, figure);
}

std::string budget_bar(const std::string& name, const Budget& budget) {
  std::vector<Segment> segments;
  const double wall = static_cast<double>(budget.wall_ns);
  std::string label = fmt::format("{}: {}", name, time_text(wall));
  for (const auto& bin : kBudgetBins) {
    const double ns = static_cast<double>(budget.*bin.time);
    const double share = wall > 0 ? ns / wall : 0;
    segments.push_back(
        {ns, std::string("b-") + bin.key,
         fmt::format("{}: {} ({} ns), {}", bin.label, time_text(ns), budget.*bin.time, share_text(share)),
         fmt::format("{:.0f} %", share * 100)});
    if (ns > 0) label += fmt::format(", {} {}", bin.label, share_text(share));
  }
  return stacked_bar(label, segments, wall);
}

std::string budget_legend() {
  std::string out = "<ul class=\"legend\">";
  for (const auto& bin : kBudgetBins)
    out += fmt::format("<li><span class=\"key b-{}\"></span><b>{}</b> {}</li>", bin.key, text(bin.label),
                       text(bin.meaning));
  return out + "</ul>\n";
}

}  // namespace nl::exporters::html
