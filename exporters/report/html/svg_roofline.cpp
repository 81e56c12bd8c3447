#include "exporters/report/html/svg_roofline.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "exporters/report/figure_text.h"
#include "exporters/report/html/html_text.h"

namespace nl::exporters::html {
namespace {

bool drawable(double intensity, double rate) {
  return std::isfinite(intensity) && std::isfinite(rate) && intensity > 0 && rate > 0;
}

// Decades from .. to; at least one, and not so many that nothing can be seen.
struct Axis {
  double from = 0, to = 1;  // powers of ten
  double percent(double value) const { return std::clamp(100 * (std::log10(value) - from) / (to - from), -5.0, 105.0); }
};

// 12 → "1 T": the unit stands on the axis.
std::string rate_label(int power) {
  if (power < 0 || power > 20) return fmt::format("1e{}", power);
  static constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  static constexpr const char* kFigures[] = {"1", "10", "100"};
  return fmt::format("{} {}", kFigures[power % 3], kPrefixes[power / 3]);
}

class Picture {
 public:
  explicit Picture(const Run& run) : run_(run) {
    for (const auto& point : run.roofline.points) include(point.intensity, point.flops_per_s);
    for (const auto& entry : run.efficiency) include(entry.intensity.value_or(0), entry.flops_per_s.value_or(0));
    if (run.peaks && any_)
      for (const auto& [dtype, rate] : run.peaks->flops_per_s)
        if (rate > 0 && run.peaks->bytes_per_s.value_or(0) > 0) include(rate / *run.peaks->bytes_per_s, rate);
  }
  bool empty() const { return !any_; }
  std::string markup();

 private:
  void include(double intensity, double rate);
  void settle();
  std::string grid() const;
  std::string roofs() const;
  std::string stages() const;
  std::string points() const;
  std::string line(const char* css, double x1, double y1, double x2, double y2, const std::string& tip) const;

  const Run& run_;
  bool any_ = false;
  double min_x_ = 1e300, max_x_ = 0, min_y_ = 1e300, max_y_ = 0;
  Axis x_, y_;
};

void Picture::include(double intensity, double rate) {
  if (!drawable(intensity, rate)) return;
  any_ = true;
  min_x_ = std::min(min_x_, intensity);
  max_x_ = std::max(max_x_, intensity);
  min_y_ = std::min(min_y_, rate);
  max_y_ = std::max(max_y_, rate);
}

void Picture::settle() {
  const auto axis = [](double low, double high) {
    Axis out{std::floor(std::log10(low) - 0.15), std::ceil(std::log10(high) + 0.1)};
    out.from = std::max(out.from, out.to - 12);
    if (out.to - out.from < 1) out.to = out.from + 1;
    return out;
  };
  x_ = axis(min_x_, max_x_);
  y_ = axis(min_y_, max_y_);
}

std::string Picture::grid() const {
  std::string out;
  const int step = x_.to - x_.from > 8 ? 2 : 1;
  for (int power = static_cast<int>(x_.from); power <= static_cast<int>(x_.to); power += step) {
    const double at = x_.percent(std::pow(10.0, power));
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0:.3f}%\" x2=\"{0:.3f}%\" y1=\"0\" y2=\"100%\"/><text class=\"axis\" "
        "x=\"{0:.3f}%\" y=\"100%\" dy=\"18\" text-anchor=\"middle\">{1}</text>",
        at, fmt::format("{:g}", std::pow(10.0, power)));
  }
  for (int power = static_cast<int>(y_.from); power <= static_cast<int>(y_.to); ++power) {
    const double at = 100 - y_.percent(std::pow(10.0, power));
    out += fmt::format(
        "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{0:.3f}%\" y2=\"{0:.3f}%\"/><text class=\"axis\" x=\"-6\" "
        "y=\"{0:.3f}%\" dy=\"4\" text-anchor=\"end\">{1}</text>",
        at, rate_label(power));
  }
  return out +
         "<text class=\"axis title\" x=\"50%\" y=\"100%\" dy=\"38\" text-anchor=\"middle\">FLOPs a byte of DRAM "
         "traffic</text>"
         "<text class=\"axis title\" x=\"-50\" y=\"0\" dy=\"-10\">FLOP/s</text>";
}

std::string Picture::line(const char* css, double x1, double y1, double x2, double y2, const std::string& tip) const {
  return fmt::format(
      "<g><title>{}</title><line class=\"{}\" x1=\"{:.3f}%\" y1=\"{:.3f}%\" x2=\"{:.3f}%\" y2=\"{:.3f}%\"/></g>",
      text(tip), css, x_.percent(x1), 100 - y_.percent(y1), x_.percent(x2), 100 - y_.percent(y2));
}

// Horizontal roofs, those of the same height as one, and the slope of the memory up to the highest.
std::string Picture::roofs() const {
  if (!run_.peaks) return {};
  std::map<double, std::string, std::greater<>> heights;
  for (const auto& [dtype, rate] : run_.peaks->flops_per_s)
    if (rate > 0 && std::isfinite(rate)) heights[rate] += (heights[rate].empty() ? "" : ", ") + dtype;
  const double bandwidth = run_.peaks->bytes_per_s.value_or(0), left = std::pow(10.0, x_.from),
               right = std::pow(10.0, x_.to);
  std::string out;
  for (const auto& [rate, dtypes] : heights) {
    const double ridge = bandwidth > 0 ? std::max(rate / bandwidth, left) : left;
    out += line("roof", ridge, rate, right, rate, fmt::format("{}: {}", dtypes, flops_rate_text(rate)));
    out += fmt::format("<text class=\"rooflabel\" x=\"100%\" y=\"{:.3f}%\" dy=\"-4\" text-anchor=\"end\">{} {}</text>",
                       100 - y_.percent(rate), text(dtypes), flops_rate_text(rate));
  }
  if (bandwidth <= 0) return out;
  // Where the slope enters the picture: at its left edge or at its foot.
  const double top = heights.empty() ? std::pow(10.0, y_.to) : heights.begin()->first;
  const double from = std::max(left, std::pow(10.0, y_.from) / bandwidth), to = std::min(top / bandwidth, right);
  if (from >= to) return out;
  out += line("roof slope", from, from * bandwidth, to, to * bandwidth, "memory: " + bytes_rate_text(bandwidth));
  const double middle = std::sqrt(from * to);
  return out + fmt::format(
                   "<text class=\"rooflabel\" x=\"{:.3f}%\" y=\"{:.3f}%\" dx=\"-8\" dy=\"-8\" "
                   "text-anchor=\"end\">memory {}</text>",
                   x_.percent(middle), 100 - y_.percent(middle * bandwidth), bytes_rate_text(bandwidth));
}

std::string Picture::stages() const {
  std::string out;
  std::vector<std::pair<double, double>> placed;
  for (const auto& entry : run_.efficiency) {
    if (!drawable(entry.intensity.value_or(0), entry.flops_per_s.value_or(0))) continue;
    const double x = x_.percent(*entry.intensity), y = 100 - y_.percent(*entry.flops_per_s);
    // A decode and its steps do the same work at the same rate: their names stand below each other.
    const auto below = std::count_if(placed.begin(), placed.end(), [&](const auto& other) {
      return std::abs(other.first - x) < 8 && std::abs(other.second - y) < 4;
    });
    placed.emplace_back(x, y);
    out += fmt::format(
        "<svg class=\"mark\" x=\"{:.3f}%\" y=\"{:.3f}%\"><title>{}</title><path class=\"stage\" d=\"M0-7 7 0 0 7-7 "
        "0z\"/><text class=\"mark-label\" x=\"11\" y=\"{}\">{}</text></svg>",
        x, y,
        text(fmt::format("stage {}: {} at {} FLOP/B, over its wall time", entry.stage,
                         flops_rate_text(entry.flops_per_s), figure_text(entry.intensity))),
        4 + 13 * below, text(entry.stage));
  }
  return out;
}

std::string Picture::points() const {
  std::string out;
  std::size_t number = 0;
  for (const auto& point : run_.roofline.points) {
    ++number;
    if (!drawable(point.intensity, point.flops_per_s)) continue;
    const char* css = point.bound_by == Bound::kCompute   ? "p-compute"
                      : point.bound_by == Bound::kMemory  ? "p-memory"
                      : point.bound_by == Bound::kLatency ? "p-latency"
                                                          : "p-none";
    out += fmt::format(
        "<svg class=\"mark\" x=\"{:.3f}%\" y=\"{:.3f}%\"><title>{}</title><circle class=\"{}\" r=\"9\"/><text "
        "class=\"number\" y=\"4\">{}</text></svg>",
        x_.percent(point.intensity), 100 - y_.percent(point.flops_per_s),
        text(fmt::format("{}. {}: {} at {} FLOP/B, {} of its roof", number, short_kernel_name(point.kernel),
                         flops_rate_text(point.flops_per_s), figure_text(point.intensity),
                         share_text(point.roof_share))),
        css, number);
  }
  return out;
}

std::string Picture::markup() {
  settle();
  return "<figure class=\"plot\"><svg role=\"img\" aria-label=\"Roofline: achieved FLOP/s over FLOPs a byte, "
         "logarithmic; the figures stand in the tables\">" +
         grid() + roofs() + stages() + points() +
         "</svg><figcaption><ul class=\"legend\"><li><span class=\"key p-compute\"></span>bound by "
         "compute</li><li><span class=\"key p-memory\"></span>by memory</li>"
         "<li><span class=\"key p-latency\"></span>by latency</li><li><span class=\"key "
         "p-none\"></span>undecided</li><li><span class=\"key stagekey\"></span>a stage, over its wall "
         "time</li></ul></figcaption></figure>\n";
}

}  // namespace

std::string roofline_picture(const Run& run) {
  Picture picture(run);
  return picture.empty() ? std::string() : picture.markup();
}

}  // namespace nl::exporters::html
