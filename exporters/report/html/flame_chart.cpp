#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/html/html.h"
#include "exporters/report/html/html_text.h"
#include "exporters/report/text/figure_text.h"

namespace nl::exporters::html {
namespace {

using report::FlameChart;

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

}  // namespace

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
