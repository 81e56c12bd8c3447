#include "exporters/html/svg_time_axis.h"

#include <fmt/core.h>

#include <cmath>

namespace nl::html {
namespace {

// 1, 2 or 5 times a power of ten, five to ten of them in the span.
double tick_ns(double span_ns) {
  const double rough = span_ns / 8, power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (rough <= factor * power) return factor * power;
  return 10 * power;
}

}  // namespace

std::string time_axis(double span_ns, int height) {
  std::string out;
  const double step = tick_ns(span_ns);
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

}  // namespace nl::html
