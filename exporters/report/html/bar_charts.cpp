#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/html/html.h"
#include "exporters/report/html/html_text.h"

namespace nl::exporters::html {
namespace {

constexpr double kRoomForLabel = 9;  // percent: about 30 px of a phone's bar, four digits wide

double percent_of(double value, double whole) {
  return whole > 0 && std::isfinite(value) ? std::clamp(100 * value / whole, 0.0, 100.0) : 0.0;
}

std::string segment_markup(const report::Segment& segment, double at, double width) {
  std::string out = fmt::format("<g><title>{}</title><rect class=\"{}\" x=\"{:.4f}%\" width=\"{:.4f}%\" height=\"100%\"/>",
                                text(segment.tip), segment.colour, at, width);
  if (width >= kRoomForLabel && !segment.label.empty())
    out += fmt::format("<text class=\"in\" x=\"{:.3f}%\" y=\"50%\">{}</text>", at + width / 2, text(segment.label));
  return out + "</g>";
}

std::string bar_markup(const report::Bar& bar) {
  std::string out = fmt::format("<svg class=\"bar\" role=\"img\"{}>", attribute("aria-label", bar.spoken));
  double at = 0;
  for (const auto& segment : bar.segments) {
    const double width = std::min(percent_of(segment.value, bar.whole), 100 - at);
    if (width <= 0) continue;
    out += segment_markup(segment, at, width);
    at += width;
  }
  if (bar.far > 0)
    out += fmt::format(
        "<line class=\"far\" x1=\"{0:.3f}%\" x2=\"{1:.3f}%\" y1=\"50%\" y2=\"50%\"/><line class=\"far\" "
        "x1=\"{1:.3f}%\" x2=\"{1:.3f}%\" y1=\"25%\" y2=\"75%\"/>",
        at, percent_of(bar.far, bar.whole));
  if (bar.tick > 0)
    out += fmt::format("<line class=\"tick\" x1=\"{0:.3f}%\" x2=\"{0:.3f}%\" y1=\"0\" y2=\"100%\"/>", percent_of(bar.tick, bar.whole));
  return out + "</svg>";
}

}  // namespace

std::string figure_markup(const report::BarChart& chart) {
  std::string out = "<div class=\"chart\">\n";
  for (const auto& bar : chart.bars) {
    if (bar.name.empty()) {  // one bar, as wide as the page
      out += bar_markup(bar);
      continue;
    }
    const std::string detail = bar.detail.empty() ? "" : " <span class=\"muted\">" + text(bar.detail) + "</span>";
    out += fmt::format("<div class=\"row\"><span class=\"what\">{}{}</span>{}<span class=\"fig\">{}</span></div>\n", text(bar.name), detail,
                       bar_markup(bar), text(bar.figure));
  }
  return out + "</div>\n";
}

std::string figure_markup(const report::ColumnChart& chart) {
  std::string out = fmt::format("<svg class=\"cols\" role=\"img\"{}>", attribute("aria-label", chart.label));
  const double each = std::min(100.0 / static_cast<double>(std::max<std::size_t>(chart.columns.size(), 1)), 4.0), width = each * 0.8;
  double left = 0;
  for (const auto& column : chart.columns) {
    const auto rect = [&](const std::string& colour, double top, double height) {
      return fmt::format("<rect class=\"{}\" x=\"{:.3f}%\" y=\"{:.3f}%\" width=\"{:.3f}%\" height=\"{:.3f}%\"/>", colour, left, top, width,
                         height);
    };
    const double height = percent_of(column.value, chart.scale);
    out += fmt::format("<g{}><title>{}</title>", column.faded ? " class=\"warmup\"" : "", text(column.tip)) +
           rect("s-idle", 100 - height, height);
    double foot = 100;
    for (const auto& part : column.parts) {
      const double share = std::min(percent_of(part.value, chart.scale), foot);
      foot -= share;
      out += rect(part.colour, foot, share);
    }
    out += "</g>";
    left += each;
  }
  return out + "</svg>\n";
}

}  // namespace nl::exporters::html
