#include <algorithm>

#include "exporters/trends/trends.h"
#include "model/run_metrics.h"
#include "orchestrator/bundle/sha256.h"
#include "runs/trends/trends.h"
#include "servers/http/filters.h"
#include "servers/http/layout.h"

// A metric over time, with its changes.
namespace nl::servers::http {
namespace {

constexpr const char* kDefaultMetric = "tpot_median_ms";

Trend trend_for(Parts& parts, const Fields& query) {
  runs::TrendRequest request{query.first("metric"), filter_of(query)};
  if (request.metric.empty()) request.metric = kDefaultMetric;
  request.by = query.first("by") == "commit" ? TrendBy::kCommit : TrendBy::kDate;
  return runs::trend_of(*parts.ledgers.borrow(), request);
}

// "ab01…" → the digest in Base64, as a policy names it
std::string base64_of_hex(const std::string& hex) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : hex) {
    bits = bits << 4 | static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    count += 4;
    for (; count >= 6; count -= 6) out += kDigits[bits >> (count - 6) & 63];
    bits &= (1u << count) - 1;
  }
  if (count > 0) out += kDigits[bits << (6 - count) & 63];
  return out.append((4 - out.size() % 4) % 4, '=');
}

// The picture has a style of its own, which is let in by its digest.
std::string style_source(const std::string& svg) {
  constexpr std::string_view kOpen = "<style>", kClose = "</style>";
  const std::size_t begin = svg.find(kOpen), end = svg.find(kClose);
  if (begin == std::string::npos || end == std::string::npos) return {};
  const std::string digest = orchestrator::sha256_text(std::string_view(svg).substr(begin + kOpen.size(), end - begin - kOpen.size()));
  return digest.empty() ? "" : fmt::format("'sha256-{}'", base64_of_hex(digest));
}

std::string sentences(const std::vector<std::string>& lines, const char* title, const char* element) {
  if (lines.empty()) return {};
  std::string out = fmt::format("<h3>{}</h3><{}>", title, element);
  for (const std::string& line : lines) out += "<li>" + text(line) + "</li>";
  return out + fmt::format("</{}>\n", element);
}

std::string series_section(const Trend& trend, const TrendSeries& series) {
  namespace trends = exporters::trends;
  std::vector<std::string> changes, anomalies;
  for (const auto& change : trends::changes_of(trend, series)) changes.push_back(trends::change_sentence(trend, series, change));
  for (auto at = series.anomalies.rbegin(); at != series.anomalies.rend() && anomalies.size() < 20; ++at)
    anomalies.push_back(trends::anomaly_sentence(trend, series, *at));
  return fmt::format("<section><h2>{}</h2>{}{}{}<p><a{}>The newest run of it</a></p></section>\n", text(trends::series_title(series)),
                     changes.empty() ? fmt::format("<p>{}</p>", trends::no_change_sentence(trend, series)) : "",
                     sentences(changes, "Changes", "ol"), sentences(anomalies, "Anomalies", "ul"),
                     attribute("href", "/runs/" + escaped(series.points.back().run_id)));
}

std::string field(const Fields& query, const char* name, const char* title, const char* hint) {
  return fmt::format("<label>{}<input name=\"{}\"{}{}></label>", title, name, attribute("value", query.first(name)),
                     attribute("placeholder", hint));
}

std::string trend_form(const Fields& query, const std::vector<std::string>& keys) {
  const std::string metric = query.first("metric").empty() ? kDefaultMetric : query.first("metric");
  std::string options;
  for (const std::string& key : keys) options += fmt::format("<option{}></option>", attribute("value", key));
  return fmt::format(
             "<form class=\"bar\" method=\"get\" action=\"/trends\"><label class=\"grow\">metric<input name=\"metric\" "
             "list=\"metrics\"{}></label>"
             "<datalist id=\"metrics\">{}</datalist>",
             attribute("value", metric), options) +
         field(query, "model", "model", "llama") + field(query, "gpu", "GPU", "H200") + field(query, "tag", "tag", "nightly") +
         field(query, "since", "since", "90d") +
         fmt::format(
             "<label>a point is<select name=\"by\"><option value=\"date\">each run</option><option value=\"commit\"{}>a "
             "commit</option></select></label>"
             "<button class=\"main\">Draw</button></form>\n",
             query.first("by") == "commit" ? " selected" : "");
}

// Figures of the run and of its stages; those of kernels would be hundreds.
std::vector<std::string> offered_metrics(Parts& parts) {
  std::vector<std::string> keys = parts.ledgers.borrow()->metric_keys();
  std::erase_if(keys, [](const std::string& key) { return key.starts_with("kernel."); });
  return keys;
}

Response trend_page(Parts& parts, const Ask& ask) {
  const std::vector<std::string> keys = offered_metrics(parts);
  Page page{"Trends", "/trends", "<header><h1>Trends</h1></header>\n" + trend_form(ask.query, keys)};
  try {
    const Trend trend = trend_for(parts, ask.query);
    const std::string svg = exporters::trend_svg(trend);
    page.more_style = style_source(svg);
    page.body += "<div class=\"picture\">" + svg + "</div>\n";
    for (const TrendSeries& series : trend.series) page.body += series_section(trend, series);
  } catch (const Error& error) {
    if (error.kind != ErrorKind::kInput) throw;
    page.body += notice(fmt::format("<p>{}.</p><p>fix: {}</p>", text(error.message), text(error.fix)));
  }
  return page_response(parts, ask, page);
}

}  // namespace

void add_trend_routes(std::vector<Route>& routes, Parts& parts) {
  std::vector<Parameter> parameters = filter_parameters();
  parameters.insert(parameters.begin(), {{"metric", "its key; tpot_median_ms where none is given"},
                                         {"by", "date: each run is a point; commit: the median of a commit's runs"}});
  routes.push_back({"GET", "/trends", Entry::kRead, Pace::kSlow, "A metric over time, with its changes",
                    [&parts](const Ask& ask) { return trend_page(parts, ask); }, parameters, kHtml});
  routes.push_back({"GET", "/api/v1/trends", Entry::kRead, Pace::kSlow, "A metric over time, as `nl-stage trends --json`",
                    [&parts](const Ask& ask) { return Response{200, kJson, exporters::trend_json(trend_for(parts, ask.query))}; },
                    parameters});
  routes.push_back({"GET", "/api/v1/metrics", Entry::kRead, Pace::kSlow, "The keys of the metrics that some run has: {metrics}",
                    [&parts](const Ask&) { return json_response({{"metrics", parts.ledgers.borrow()->metric_keys()}}); }});
}

}  // namespace nl::servers::http
