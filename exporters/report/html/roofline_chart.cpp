#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "exporters/report/html/html.h"

namespace nl::exporters::html {
namespace {

using Point = report::RooflineChart::Point;

bool drawable(double intensity, double rate) { return std::isfinite(intensity) && std::isfinite(rate) && intensity > 0 && rate > 0; }

// Powers of ten from .. to; at least one, and not so many that nothing can be seen.
class LogAxis {
 public:
  void include(double value) {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  bool empty() const { return high_ <= 0; }
  void settle() {
    from = std::floor(std::log10(low_) - 0.15);
    to = std::ceil(std::log10(high_) + 0.1);
    from = std::max(from, to - 12);
    if (to - from < 1) to = from + 1;
  }
  double percent(double value) const { return std::clamp(100 * (std::log10(value) - from) / (to - from), -5.0, 105.0); }

  double from = 0, to = 1;

 private:
  double low_ = 1e300, high_ = 0;
};

// 12 → "1 T": the unit stands on the axis.
std::string rate_label(int power) {
  if (power < 0 || power > 20) return fmt::format("1e{}", power);
  static constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  static constexpr const char* kFigures[] = {"1", "10", "100"};
  return fmt::format("{} {}", kFigures[power % 3], kPrefixes[power / 3]);
}

class RooflinePicture {
 public:
  explicit RooflinePicture(const report::RooflineChart& chart) : chart_(chart) {
    for (const auto& point : chart.points) include(point.intensity, point.flops_per_s);
    if (empty()) return;
    for (const auto& roof : chart.roofs)
      if (chart.bytes_per_s > 0) include(roof.flops_per_s / chart.bytes_per_s, roof.flops_per_s);
    x_.settle();
    y_.settle();
  }
  bool empty() const { return x_.empty(); }
  std::string markup() const;

 private:
  void include(double intensity, double rate) {
    if (!drawable(intensity, rate)) return;
    x_.include(intensity);
    y_.include(rate);
  }
  double top(double rate) const { return 100 - y_.percent(rate); }
  std::string grid() const;
  std::string line(const char* css, double x1, double y1, double x2, double y2, const std::string& tip) const;
  std::string roofs() const;
  std::string roof_labels() const;
  std::string slope() const;
  std::string slope_label() const;
  std::pair<double, double> slope_ends() const;
  std::string marks(bool stages) const;
  std::string stage_labels() const;

  const report::RooflineChart& chart_;
  LogAxis x_, y_;
};

std::string RooflinePicture::grid() const {
  std::string out;
  const int step = x_.to - x_.from > 8 ? 2 : 1;
  for (int power = static_cast<int>(x_.from); power <= static_cast<int>(x_.to); power += step)
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0:.3f}%\" x2=\"{0:.3f}%\" y1=\"0\" y2=\"100%\"/><text class=\"axis\" "
        "x=\"{0:.3f}%\" y=\"100%\" dy=\"18\" text-anchor=\"middle\">{1:g}</text>",
        x_.percent(std::pow(10.0, power)), std::pow(10.0, power));
  for (int power = static_cast<int>(y_.from); power <= static_cast<int>(y_.to); ++power)
    out += fmt::format(
        "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{0:.3f}%\" y2=\"{0:.3f}%\"/><text class=\"axis\" x=\"-6\" "
        "y=\"{0:.3f}%\" dy=\"4\" text-anchor=\"end\">{1}</text>",
        top(std::pow(10.0, power)), rate_label(power));
  return out +
         "<text class=\"axis title\" x=\"50%\" y=\"100%\" dy=\"38\" text-anchor=\"middle\">FLOPs per byte of DRAM "
         "traffic</text><text class=\"axis title\" x=\"-50\" y=\"0\" dy=\"-10\">FLOP/s</text>";
}

std::string RooflinePicture::line(const char* css, double x1, double y1, double x2, double y2, const std::string& tip) const {
  return fmt::format("<g><title>{}</title><line class=\"{}\" x1=\"{:.3f}%\" y1=\"{:.3f}%\" x2=\"{:.3f}%\" y2=\"{:.3f}%\"/></g>", text(tip),
                     css, x_.percent(x1), top(y1), x_.percent(x2), top(y2));
}

std::string RooflinePicture::roofs() const {
  const double left = std::pow(10.0, x_.from), right = std::pow(10.0, x_.to);
  std::string out;
  for (const auto& roof : chart_.roofs) {
    const double ridge = chart_.bytes_per_s > 0 ? std::max(roof.flops_per_s / chart_.bytes_per_s, left) : left;
    out += line("roof", ridge, roof.flops_per_s, right, roof.flops_per_s, roof.name);
  }
  return out;
}

constexpr double kLineOfText = 4;  // percent of the height

// "fp8 1979" and "bf16 989 TFLOP/s": "fp8 1979 · bf16 989 TFLOP/s"
std::string joined_roofs(const std::string& names, const std::string& next) {
  const std::size_t unit = names.rfind(' ');
  const bool same = unit != std::string::npos && next.ends_with(names.substr(unit));
  return (same ? names.substr(0, unit) : names) + " · " + next;
}

// Above their lines. Roofs too near for a line of text between them share one label, above the highest: any other would be struck through.
std::string RooflinePicture::roof_labels() const {
  std::string out;
  for (auto roof = chart_.roofs.begin(); roof != chart_.roofs.end();) {
    const double at = top(roof->flops_per_s);
    std::string names = roof->name;
    double lowest = at;
    for (++roof; roof != chart_.roofs.end() && top(roof->flops_per_s) - lowest < 1.5 * kLineOfText; ++roof) {
      names = joined_roofs(names, roof->name);
      lowest = top(roof->flops_per_s);
    }
    out += fmt::format("<text class=\"rooflabel\" x=\"100%\" y=\"{:.3f}%\" dy=\"-5\" text-anchor=\"end\">{}</text>", at, text(names));
  }
  return out;
}

// The memory's roof, from where it enters the picture (at the left edge or at the foot) up to the highest of the others.
std::pair<double, double> RooflinePicture::slope_ends() const {
  const double height = chart_.roofs.empty() ? std::pow(10.0, y_.to) : chart_.roofs.front().flops_per_s;
  return {std::max(std::pow(10.0, x_.from), std::pow(10.0, y_.from) / chart_.bytes_per_s),
          std::min(height / chart_.bytes_per_s, std::pow(10.0, x_.to))};
}

std::string RooflinePicture::slope() const {
  const double bandwidth = chart_.bytes_per_s;
  if (bandwidth <= 0) return {};
  const auto [from, to] = slope_ends();
  return from < to ? line("roof slope", from, from * bandwidth, to, to * bandwidth, chart_.memory) : "";
}

std::string RooflinePicture::slope_label() const {
  if (chart_.bytes_per_s <= 0) return {};
  const auto [from, to] = slope_ends();
  if (from >= to) return {};
  const double middle = std::sqrt(from * to);
  return fmt::format("<text class=\"rooflabel\" x=\"{:.3f}%\" y=\"{:.3f}%\" dx=\"-8\" dy=\"-8\" text-anchor=\"end\">{}</text>",
                     x_.percent(middle), top(middle * chart_.bytes_per_s), text(chart_.memory));
}

constexpr const char* kStageMark = "<path class=\"stage\" d=\"M0-7 7 0 0 7-7 0z\"/>";

std::string launch_mark(const Point& point) {
  return fmt::format("<circle class=\"{}\" r=\"9\"/><text class=\"number\" y=\"4\">{}</text>", point.colour, point.number);
}

std::string RooflinePicture::marks(bool stages) const {
  std::string out;
  for (const auto& point : chart_.points) {
    if ((point.number == 0) != stages || !drawable(point.intensity, point.flops_per_s)) continue;
    out += fmt::format("<svg class=\"mark\" x=\"{:.3f}%\" y=\"{:.3f}%\"><title>{}</title>{}</svg>", x_.percent(point.intensity),
                       top(point.flops_per_s), text(point.tip), stages ? kStageMark : launch_mark(point));
  }
  return out;
}

// Over everything else. A decode and its steps do the same work at the same rate, and so may a kernel: each name stands on the first line at or
// below its mark that no other name and no kernel's mark takes.
std::string RooflinePicture::stage_labels() const {
  constexpr double kWidth = 12;  // percent: of a name
  constexpr int kMostBelow = 6;
  std::string out;
  std::vector<std::pair<double, double>> taken;  // the middle of marks, the begin of names
  for (const auto& point : chart_.points)
    if (point.number != 0 && drawable(point.intensity, point.flops_per_s))
      taken.emplace_back(x_.percent(point.intensity), top(point.flops_per_s));
  for (const auto& point : chart_.points) {
    if (point.number != 0 || !drawable(point.intensity, point.flops_per_s)) continue;
    const double x = x_.percent(point.intensity), y = top(point.flops_per_s);
    const auto is_taken = [&](int below) {
      return std::any_of(taken.begin(), taken.end(), [&](const auto& other) {
        return other.first > x - kWidth && other.first < x + kWidth && std::abs(other.second - y - below * kLineOfText) < kLineOfText;
      });
    };
    int below = 0;
    while (below < kMostBelow && is_taken(below)) ++below;
    taken.emplace_back(x, y + below * kLineOfText);
    out += fmt::format("<text class=\"mark-label\" x=\"{:.3f}%\" y=\"{:.3f}%\" dx=\"11\" dy=\"{}\">{}</text>", x, y, 4 + 13 * below,
                       text(point.name));
  }
  return out;
}

std::string RooflinePicture::markup() const {
  return "<figure class=\"plot\"><svg role=\"img\" aria-label=\"Roofline: achieved FLOP/s over FLOPs per byte, "
         "logarithmic; the tables have the figures\">" +
         grid() + roofs() + slope() + marks(true) + marks(false) + roof_labels() + slope_label() + stage_labels() +
         "</svg><figcaption><ul class=\"legend\"><li><span class=\"key p-compute\"></span>bound by "
         "compute</li><li><span class=\"key p-memory\"></span>by memory</li>"
         "<li><span class=\"key p-latency\"></span>by latency</li><li><span class=\"key "
         "p-none\"></span>undecided</li><li><span class=\"key stagekey\"></span>a stage, over its wall "
         "time</li></ul></figcaption></figure>\n";
}

}  // namespace

std::string figure_markup(const report::RooflineChart& chart) {
  const RooflinePicture picture(chart);
  return picture.empty() ? std::string() : picture.markup();
}

}  // namespace nl::exporters::html
