#include <fmt/format.h>

#include "exporters/report/html/html_text.h"
#include "exporters/trends/trends.h"
#include "exporters/trends/words.h"

namespace nl::exporters {
namespace {

using html::text;

constexpr const char* kPageStyle =
    "body{font:15px/1.45 system-ui,sans-serif;max-width:1000px;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
    "svg{width:100%;height:auto}li{margin:.25rem 0}h2{font-size:1.05rem;margin-top:1.5rem}";

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
  if (changes.empty()) out += fmt::format("<p>No change of {} % or more.</p>\n", 100 * trend.min_effect);
  return out + list_markup(changes, "Changes", "ol") + list_markup(anomalies, "Anomalies", "ul");
}

}  // namespace

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
