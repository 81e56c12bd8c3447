#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "exporters/report/html/html.h"
#include "exporters/trends/trends.h"

namespace nl::exporters {
namespace {

using namespace trends;
using html::text;

constexpr double kWidth = 960, kLeft = 90, kRight = 20, kPlotHeight = 220, kSeriesHeight = 300, kToldHeight = 74, kTop = 44;
constexpr std::size_t kMostDots = 2000;  // more are one beside the other at this width

constexpr const char* kStyle =
    "text{font:12px "
    "system-ui,sans-serif;fill:#333}.title{font-weight:600;font-size:14px}.frame{fill:none;stroke:#bbb}.dot{fill:#3b6ea5}.odd{fill:#d97706}"
    ".level{stroke:#333;stroke-width:1.5}.expected{fill:#3b6ea5;opacity:.08}.better{stroke:#15803d}.worse{stroke:#b91c1c}.change{stroke:#"
    "555}"
    ".change,.better,.worse{stroke-width:1.5;stroke-dasharray:4 3}.trend{background:#fff}"
    "@media(prefers-color-scheme:dark){.trend{background:#171c22}.ground{fill:#171c22}text{fill:#e6eaee}.frame{stroke:#56616d}"
    ".dot{fill:#63aef5}.odd{fill:#f0a34a}.level{stroke:#e6eaee}.expected{fill:#63aef5;opacity:.14}.better{stroke:#45bd92}"
    ".worse{stroke:#f27d72}.change{stroke:#98a4b0}}";

double height_of(const TrendSeries& series) { return is_drawn(series) ? kSeriesHeight : kToldHeight; }

// One series in its own frame.
class SeriesFrame {
 public:
  SeriesFrame(const Trend& trend, const TrendSeries& series, double top)
      : trend_(trend), series_(series), top_(top + kTop), range_(value_range(series)) {}

  std::string markup() const {
    std::string out = fmt::format("<text class=\"title\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n", kLeft, top_ - 12,
                                  text(fmt::format("{} of {}", trend_.metric, series_title(series_))));
    if (!is_drawn(series_))
      return out +
             fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n", kLeft, top_ + 8, text(point_sentence(trend_, series_.points[0])));
    out += fmt::format("<rect class=\"frame\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", kLeft, top_,
                       kWidth - kLeft - kRight, kPlotHeight);
    return out + labels() + levels() + dots() + changes();
  }

 private:
  double x(double point) const { return kLeft + (point + 0.5) / static_cast<double>(series_.points.size()) * (kWidth - kLeft - kRight); }
  double y(double value) const { return top_ + std::clamp((range_.high - value) / (range_.high - range_.low), 0.0, 1.0) * kPlotHeight; }

  std::string labels() const {
    std::string out;
    for (const double share : {0.0, 0.5, 1.0}) {
      const double value = range_.low + share * (range_.high - range_.low);
      out += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 6, y(value) + 4,
                         text(value_text(trend_, value)));
    }
    const double below = top_ + kPlotHeight + 16;
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n", kLeft, below, text(series_.points.front().created_at.substr(0, 10)));
    return out + fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", kWidth - kRight, below,
                             text(series_.points.back().created_at.substr(0, 10)));
  }

  std::string levels() const {
    std::string out;
    for (const TrendLevel& level : series_.levels) {
      const double from = x(static_cast<double>(level.first) - 0.5), to = x(static_cast<double>(level.last) - 0.5);
      out += fmt::format("<rect class=\"expected\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n", from, y(level.high),
                         to - from, y(level.low) - y(level.high));
      out +=
          fmt::format("<line class=\"level\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n", from, to, y(level.median));
    }
    return out;
  }

  std::string dot(std::size_t i, const char* style, double radius) const {
    const TrendPoint& point = series_.points[i];
    return fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}</title></circle>\n", style,
                       x(static_cast<double>(i)), y(point.value), radius,
                       text(fmt::format("{}: {}", point_name(trend_, point), value_text(trend_, point.value))));
  }

  // Draws every n-th of many points, and every anomaly.
  std::string dots() const {
    std::string out;
    const std::size_t stride = (series_.points.size() + kMostDots - 1) / kMostDots;
    for (std::size_t i = 0; i < series_.points.size(); i += stride) out += dot(i, "dot", 2.5);
    for (std::size_t i = 0; i < series_.anomalies.size() && i < kMostDots; ++i)
      out += dot(series_.anomalies[series_.anomalies.size() - 1 - i], "odd", 4);
    return out;
  }

  std::string changes() const {
    std::string out;
    std::size_t number = 0;
    for (const Change& change : changes_of(trend_, series_)) {
      const double at = x(static_cast<double>(change.at) - 0.5);
      out += fmt::format("<g><line class=\"{0}\" x1=\"{1:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{3:.1f}\"/><title>{4}</title></g>\n",
                         change.verdict.empty() ? "change" : change.verdict, at, top_, top_ + kPlotHeight,
                         text(change_sentence(trend_, series_, change)));
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", at, top_ + kPlotHeight + 30, ++number);
    }
    return out;
  }

  const Trend& trend_;
  const TrendSeries& series_;
  double top_;
  Range range_;
};

constexpr const char* kPageStyle =
    "body{font:15px/1.45 system-ui,sans-serif;max-width:1000px;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
    "svg{width:100%;height:auto}li{margin:.25rem 0}h2{font-size:1.05rem;margin-top:1.5rem}"
    ":root{color-scheme:light dark}@media(prefers-color-scheme:dark){body{color:#e6eaee;background:#0f1318}}";

std::string list_markup(const std::vector<std::string>& lines, const std::string& title, const std::string& element) {
  if (lines.empty()) return "";
  std::string out = fmt::format("<h3>{}</h3>\n<{}>\n", title, element);
  for (const std::string& line : lines) out += "<li>" + text(line) + "</li>\n";
  return out + fmt::format("</{}>\n", element);
}

std::string series_markup(const Trend& trend, const TrendSeries& series) {
  std::vector<std::string> changes, anomalies;
  for (const trends::Change& change : trends::changes_of(trend, series)) changes.push_back(trends::change_sentence(trend, series, change));
  for (auto at = series.anomalies.rbegin(); at != series.anomalies.rend(); ++at)
    anomalies.push_back(trends::anomaly_sentence(trend, series, *at));
  std::string out = fmt::format("<h2>{}</h2>\n", text(trends::series_title(series)));
  if (changes.empty()) out += fmt::format("<p>{}</p>\n", trends::no_change_sentence(trend, series));
  return out + list_markup(changes, "Changes", "ol") + list_markup(anomalies, "Anomalies", "ul");
}

}  // namespace

std::string trend_svg(const Trend& trend) {
  double height = 0;
  for (const TrendSeries& series : trend.series) height += height_of(series);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"trend\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" "
      "aria-label=\"{2}\">\n<style>{3}</style>\n"
      "<rect class=\"ground\" width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#fff\"/>\n",
      kWidth, trend.series.empty() ? kSeriesHeight : height, text(trend.metric + " over time"), kStyle);
  double top = 0;
  for (const TrendSeries& series : trend.series) {
    out += SeriesFrame(trend, series, top).markup();
    top += height_of(series);
  }
  return out + "</svg>\n";
}

std::string trend_html(const Trend& trend) {
  const std::string title = text(trend.metric + " over time");
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action "
      "'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
      title, kPageStyle);
  out += trend_svg(trend);
  for (const TrendSeries& series : trend.series) out += series_markup(trend, series);
  return out + "</body>\n</html>\n";
}

}  // namespace nl::exporters
