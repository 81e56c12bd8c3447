#include "model/visible_text.h"
#include "servers/http/figures.h"
#include "servers/http/layout.h"
#include "servers/http/suite_list.h"

// Suites and their gates.
namespace nl::servers::http {
namespace {

std::string speedup_cell(const SuitePair& pair) {
  if (!pair.speedup) return "–";
  return pair.low && pair.high
             ? fmt::format("{} × ({} to {})", three_digits(*pair.speedup), three_digits(*pair.low), three_digits(*pair.high))
             : fmt::format("{} ×", three_digits(*pair.speedup));
}

std::string gate_cell(const SuitePair& pair) {
  if (pair.expectation.empty()) return "<span class=\"none\">no expectation</span>";
  return fmt::format("<span class=\"pill {0}\">{0}</span>{1}", text(pair.expectation),
                     pair.expected ? fmt::format(" of {} ×", three_digits(*pair.expected)) : "");
}

std::string pair_row(const SuitePair& pair) {
  return fmt::format(
      "<tr><th scope=\"row\">{}<span class=\"id\">{} → {}</span></th><td class=\"n\">{}</td><td><span class=\"pill "
      "{}\">{}</span></td><td>{}</td><td "
      "class=\"words\">{}</td></tr>\n",
      text(pair.name), text(pair.baseline), text(pair.optimised), text(speedup_cell(pair)), text(pair.verdict), text(pair.verdict),
      gate_cell(pair), text(pair.note));
}

std::string suite_section(const SuiteSummary& suite) {
  std::string out = fmt::format(
      "<section><h2>{} <span class=\"pill {}\">{}</span></h2>\n<p class=\"facts\"><span>{}</span><span>{} of its runs in the "
      "ledger</span><span>threshold {} ×</span>{}</p>\n",
      text(suite.name), text(suite.verdict), text(suite.verdict), text(minute_text(suite.started_at)), suite.run_ids.size(),
      three_digits(suite.threshold), suite.machine.empty() ? "" : "<span>expectations of " + text(suite.machine) + "</span>");
  out +=
      "<div class=\"scroll\"><table class=\"runs\"><thead><tr><th scope=\"col\">Pair</th><th scope=\"col\" class=\"n\">Speed-up</th><th "
      "scope=\"col\">Verdict</th><th scope=\"col\">Gate</th><th scope=\"col\">Remark</th></tr></thead><tbody>\n";
  for (const SuitePair& pair : suite.pairs) out += pair_row(pair);
  return out + fmt::format("</tbody></table></div>\n<p class=\"muted small\"><code>{}</code></p></section>\n", text(suite.folder.string()));
}

Response suite_page(Parts& parts, const Ask& ask) {
  std::string body = "<header><h1>Suites and gates</h1></header>\n";
  const auto suites = suites_of(*parts.ledgers.borrow());
  if (suites.empty())
    body +=
        "<p class=\"missing\">No suite is known here. <code>nl-stage suite run FILE</code> records its runs in the ledger, and its folder "
        "has to lie "
        "on this machine.</p>\n";
  for (const SuiteSummary& suite : suites) body += suite_section(suite);
  body +=
      "<p class=\"muted\">A pair's gate is what its suite expects of it on this machine. <code>nl-stage gate</code> decides alone, by its "
      "exit status, "
      "and records nothing.</p>\n";
  return page_response(parts, ask, {"Suites", "/suites", body});
}

nlohmann::ordered_json pair_json(const SuitePair& pair) {
  const auto known = [](const std::optional<double>& value) { return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(); };
  return {{"name", pair.name},
          {"baseline", pair.baseline},
          {"optimised", pair.optimised},
          {"speedup", known(pair.speedup)},
          {"low", known(pair.low)},
          {"high", known(pair.high)},
          {"verdict", pair.verdict},
          {"expected", known(pair.expected)},
          {"expectation", pair.expectation},
          {"note", pair.note}};
}

Response suites_json(Parts& parts) {
  auto list = nlohmann::ordered_json::array();
  for (const SuiteSummary& suite : suites_of(*parts.ledgers.borrow())) {
    auto pairs = nlohmann::ordered_json::array();
    for (const SuitePair& pair : suite.pairs) pairs.push_back(pair_json(pair));
    list.push_back({{"name", suite.name},
                    {"verdict", suite.verdict},
                    {"started_at", suite.started_at},
                    {"ended_at", suite.ended_at},
                    {"threshold", suite.threshold},
                    {"machine", suite.machine},
                    {"folder", suite.folder.string()},
                    {"runs", suite.run_ids},
                    {"pairs", pairs}});
  }
  return json_response({{"suites", list}});
}

}  // namespace

void add_suite_routes(std::vector<Route>& routes, Parts& parts) {
  routes.push_back({"GET",
                    "/suites",
                    Entry::kRead,
                    Pace::kSlow,
                    "Suites, with the verdicts and gates of their pairs",
                    [&parts](const Ask& ask) { return suite_page(parts, ask); },
                    {},
                    kHtml});
  routes.push_back({"GET", "/api/v1/suites", Entry::kRead, Pace::kSlow,
                    "The suites whose folders are here: {suites: [{name, verdict, pairs, runs …}]}",
                    [&parts](const Ask&) { return suites_json(parts); }});
}

}  // namespace nl::servers::http
