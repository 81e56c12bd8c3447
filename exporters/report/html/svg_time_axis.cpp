#include "exporters/report/html/svg_time_axis.h"

#include <fmt/core.h>

#include <cmath>

namespace nl::exporters::html {

double round_up(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (value <= factor * power) return factor * power;
  return 10 * power;
}

std::string time_axis(double span_ns, int height) {
  std::string out;
  const double step = round_up(span_ns / 8);  // at most eight of them in the span
  for (int i = 0; i < 20 && i * step <= span_ns; ++i) {
    const double at = 100 * i * step / span_ns;
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0:.3f}%\" x2=\"{0:.3f}%\" y1=\"14\" y2=\"{1}\"/><text class=\"axis\" "
        "x=\"{0:.3f}%\" y=\"11\"{2}>{3}</text>",
        at, height,
        at > 94  ? " text-anchor=\"end\""
        : at < 1 ? ""
                 : " text-anchor=\"middle\"",
        i == 0 ? "0"
               : fmt::format("{:g} {}",
                             i * step /
                                 (span_ns >= 2e9   ? 1e9
                                  : span_ns >= 2e6 ? 1e6
                                                   : 1e3),
                             span_ns >= 2e9   ? "s"
                             : span_ns >= 2e6 ? "ms"
                                              : "µs"));
  }
  return out;
}

}  // namespace nl::exporters::html
