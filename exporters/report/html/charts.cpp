#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "exporters/report/html/html.h"
#include "exporters/report/text/figure_text.h"

namespace nl::exporters::html {
namespace {

using namespace report;
using report::FlameChart;

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

constexpr int kAxisPx = 20;  // the labels of the time stand in so much at the top
constexpr int kCurvePx = 66, kAreaPx = 56;

double place(double ns, double span_ns) { return std::clamp(100 * ns / span_ns, 0.0, 100.0); }

// "0", "2.5 ms": in the unit that suits the whole axis.
std::string axis_time(double ns, double span_ns) {
  const double unit = span_ns >= 2e9 ? 1e9 : span_ns >= 2e6 ? 1e6 : 1e3;
  return ns > 0 ? fmt::format("{:g} {}", ns / unit, span_ns >= 2e9 ? "s" : span_ns >= 2e6 ? "ms" : "µs") : "0";
}

// Lines and labels, from 0; at most eight steps in the span.
std::string time_axis(double span_ns, int height) {
  std::string out;
  const double step = round_up(span_ns / 8);
  for (int i = 0; i < 20 && i * step <= span_ns; ++i) {
    const double at = 100 * i * step / span_ns;
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0:.3f}%\" x2=\"{0:.3f}%\" y1=\"14\" y2=\"{1}\"/><text class=\"axis{4}\" "
        "x=\"{0:.3f}%\" y=\"11\"{2}>{3}</text>",
        at, height,
        at > 94  ? " text-anchor=\"end\""
        : at < 1 ? ""
                 : " text-anchor=\"middle\"",
        axis_time(i * step, span_ns), i % 2 == 1 ? " between" : "");
  }
  return out;
}

// The titles of the lanes beside the picture, which scrolls and zooms.
std::string framed(const std::string& titles, const std::string& label, int height, const std::string& picture) {
  return fmt::format(
      "<div class=\"timeline\">{}<div class=\"zoom scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Activity over time; plus and minus "
      "zoom\"><svg role=\"img\"{} height=\"{}\">{}</svg></div></div>\n",
      titles, attribute("aria-label", label), height, picture);
}

// Steps, because each value is a mean over one; where there was no sample, nothing is drawn.
std::string area_path(const std::vector<std::optional<double>>& values, double top) {
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

std::string curve_markup(const CurveChart::Curve& curve, double span_ns, int y) {
  const double left = place(curve.start_ns, span_ns), right = place(curve.end_ns, span_ns);
  return fmt::format(
      "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{0}\" y2=\"{0}\"/><svg x=\"{1:.4f}%\" y=\"{2}\" width=\"{3:.4f}%\" "
      "height=\"{4}\" viewBox=\"0 0 {5} 100\" preserveAspectRatio=\"none\"><title>{6}</title><path class=\"{7}\" "
      "d=\"{8}\"/></svg>",
      y + kAreaPx, left, y, right - left, kAreaPx, curve.values.size(), text(curve.tip), curve.colour, area_path(curve.values, curve.top));
}

std::string window_markup(const CurveChart::Window& window, double span_ns, int height) {
  const double from = place(window.start_ns, span_ns), to = place(window.end_ns, span_ns);
  return fmt::format("<rect class=\"window{}\" x=\"{:.4f}%\" y=\"{}\" width=\"{:.4f}%\" height=\"{}\"><title>{}</title></rect>",
                     window.faded ? " warmup" : "", from, kAxisPx, to - from, height - kAxisPx, text(window.tip));
}

constexpr int kFramePx = 18;
constexpr double kRoomForFunction = 0.4;  // percent of the picture: readable once zoomed in
constexpr std::size_t kLongestFunction = 80;

std::string frame_markup(const FlameChart::Frame& frame) {
  const double from = std::clamp(100 * frame.start, 0.0, 100.0), width = std::clamp(100 * frame.width, 0.0, 100.0 - from);
  const std::string box = fmt::format("x=\"{:.3f}%\" y=\"{}\" width=\"{:.3f}%\" height=\"{}\"", from,
                                      static_cast<int>(frame.depth) * kFramePx, width, kFramePx);
  const std::string tip = "<title>" + text(frame.tip) + "</title>";
  if (width < kRoomForFunction || frame.name.empty()) return fmt::format("<rect class=\"{}\" {}>{}</rect>", frame.colour, box, tip);
  return fmt::format("<svg {}>{}<rect class=\"{}\" width=\"100%\" height=\"100%\"/><text class=\"in\" x=\"3\" y=\"13\">{}</text></svg>",
                     box, tip, frame.colour, text(cut(frame.name, kLongestFunction)));
}

constexpr int kStripLanePx = 22, kStripPartPx = 18;  // as the titles beside it
constexpr double kRoomForLength = 50;                // percent: the length stands inside of its strip

std::string interval_markup(const StripChart::Strip& strip, double span_ns, int y) {
  if (!(strip.high_ns > strip.low_ns)) return {};
  std::string out;
  const double low = place(strip.low_ns, span_ns), high = place(strip.high_ns, span_ns);
  for (const auto& [x1, x2, above] : {std::tuple(low, high, 0), std::tuple(low, low, 4), std::tuple(high, high, 4)})
    out += fmt::format("<line class=\"reach\" x1=\"{:.3f}%\" x2=\"{:.3f}%\" y1=\"{}\" y2=\"{}\"/>", x1, x2, y - above, y + above);
  return out;
}

std::string part_markup(const StripChart::Part& part, double span_ns, int y) {
  const double from = place(part.start_ns, span_ns), to = place(part.end_ns, span_ns);
  if (!(to > from)) return {};
  const std::string bar = fmt::format("<rect class=\"{}\" x=\"{:.4f}%\" y=\"{}\" width=\"{:.4f}%\" height=\"{}\"><title>{}</title></rect>",
                                      part.colour, from, y + (kStripLanePx - kStripPartPx) / 2, to - from, kStripPartPx, text(part.tip));
  if (part.label.empty() || to - from < kRoomForLabel) return bar;
  return fmt::format("<g>{}<text class=\"in middle\" x=\"{:.3f}%\" y=\"{}\">{}</text></g>", bar, (from + to) / 2, y + kStripLanePx / 2 + 4,
                     text(part.label));
}

// The window's length above its lanes, which stand on a ground as long as it is.
std::string strip_markup(const StripChart::Strip& strip, double span_ns, int y) {
  const double length = place(strip.length_ns, span_ns);
  std::string out = fmt::format(
      "<text class=\"axis\" x=\"{:.3f}%\" y=\"{}\"{}>{}</text><rect class=\"window\" x=\"0\" y=\"{}\" width=\"{:.4f}%\" height=\"{}\"/>",
      length, y + 16, length > kRoomForLength ? " text-anchor=\"end\"" : "", text(strip.figure), y + kStripLanePx, length,
      static_cast<int>(strip.lanes.size()) * kStripLanePx);
  out += interval_markup(strip, span_ns, y + kStripLanePx - 2);
  for (const auto& lane : strip.lanes) {
    y += kStripLanePx;
    for (const auto& part : lane.parts) out += part_markup(part, span_ns, y);
  }
  return out;
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
    out += fmt::format("<div class=\"row\"{}><span class=\"what\">{}{}</span>{}<span class=\"fig\">{}</span></div>\n",
                       bar.id.empty() ? "" : attribute("id", bar.id), text(bar.name), detail, bar_markup(bar), text(bar.figure));
  }
  return out + "</div>\n";
}

namespace {

constexpr int kTicks = 4;            // of time, at most
constexpr std::size_t kNumbers = 8;  // of columns, about

// Lines across the columns, and their times to the left of them.
std::pair<std::string, std::string> time_ticks(double scale_ns) {
  std::string lines, labels;
  const double step = round_up(scale_ns / kTicks);
  for (double at = 0; scale_ns > 0 && at <= scale_ns; at += step) {
    const double y = 100 - percent_of(at, scale_ns);
    lines += fmt::format("<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{0:.2f}%\" y2=\"{0:.2f}%\"/>", y);
    labels +=
        fmt::format("<text class=\"axis\" x=\"100%\" y=\"{:.2f}%\" dy=\"4\" text-anchor=\"end\">{}</text>", y, axis_time(at, scale_ns));
  }
  return {lines, labels};
}

// "1   11   21 … iteration" below every tenth column.
std::string column_numbers(std::size_t count, double each, const std::string& unit) {
  const auto step = static_cast<std::size_t>(std::max(1.0, round_up(static_cast<double>(count) / kNumbers)));
  std::string out;
  for (std::size_t i = 0; i < count; i += step)
    out += fmt::format("<text class=\"axis\" x=\"{:.3f}%\" y=\"12\" text-anchor=\"middle\">{}</text>",
                       (static_cast<double>(i) + 0.4) * each, i + 1);
  return fmt::format("<svg class=\"col-numbers\" aria-hidden=\"true\">{}</svg><span class=\"axis-unit\">{}</span>", out, text(unit));
}

}  // namespace

std::string figure_markup(const report::ColumnChart& chart) {
  const auto [lines, labels] = time_ticks(chart.scale);
  std::string out =
      fmt::format("<div class=\"col-chart\"><svg class=\"col-times\" aria-hidden=\"true\">{}</svg><svg class=\"cols\" role=\"img\"{}>{}",
                  labels, attribute("aria-label", chart.label), lines);
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
  return out + "</svg>" + column_numbers(chart.columns.size(), each, chart.unit) + "</div>\n";
}

std::string figure_markup(const Explorer& explorer) {
  return fmt::format("<div class=\"explorer\" data-explorer role=\"region\"{}><p class=\"muted\">{}. {}</p></div>\n",
                     attribute("aria-label", explorer.label), text(explorer.label),
                     built_in_script().text.empty() ? "Not drawn: this page has no script." : "The page's script draws it.");
}

std::string figure_markup(const CurveChart& chart) {
  const int height = kAxisPx + static_cast<int>(chart.curves.size()) * kCurvePx;
  std::string titles = "<div class=\"lanes curves\">", picture;
  for (const auto& window : chart.windows) picture += window_markup(window, chart.span_ns, height);
  picture += time_axis(chart.span_ns, height);
  int y = kAxisPx + kCurvePx - kAreaPx;
  for (const auto& curve : chart.curves) {
    titles += fmt::format("<span title=\"{0}\"><b>{0}</b><br>{1}<br>{2}</span>", text(curve.title), text(curve.scale), text(curve.mean));
    picture += curve_markup(curve, chart.span_ns, y);
    y += kCurvePx;
  }
  return framed(titles + "</div>", chart.label, height, picture);
}

std::string figure_markup(const StripChart& chart) {
  if (!(chart.span_ns > 0)) return {};
  std::string titles = "<div class=\"lanes strips\">", strips;
  int y = kAxisPx;
  for (const auto& strip : chart.strips) {
    titles += fmt::format("<span><b>{}</b></span>", text(strip.title));
    for (const auto& lane : strip.lanes) titles += fmt::format("<span>{}</span>", text(lane.title));
    strips += strip_markup(strip, chart.span_ns, y);
    y += static_cast<int>(strip.lanes.size() + 1) * kStripLanePx;
  }
  return fmt::format("<div class=\"timeline strip-chart\">{}</div><svg role=\"img\"{} height=\"{}\">{}{}</svg></div>\n", titles,
                     attribute("aria-label", chart.label), y, time_axis(chart.span_ns, y), strips);
}

std::string figure_markup(const FlameChart& chart) {
  if (chart.frames.empty()) return {};
  std::size_t deepest = 0;
  std::string picture;
  for (const auto& frame : chart.frames) {
    deepest = std::max(deepest, frame.depth);
    picture += frame_markup(frame);
  }
  return fmt::format(
      "<div class=\"flame\"><div class=\"zoom scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Flame graph; plus and minus zoom\"><svg "
      "role=\"img\"{} height=\"{}\">{}</svg></div></div>\n",
      attribute("aria-label", chart.label), static_cast<int>(deepest + 1) * kFramePx, picture);
}

}  // namespace nl::exporters::html
