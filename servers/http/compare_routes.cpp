#include "analysis/runs/compare/compare.h"
#include "exporters/report/compare/compare.h"
#include "exporters/run_json/run_json.h"
#include "runs/compare/recorded.h"
#include "servers/http/figures.h"
#include "servers/http/layout.h"
#include "servers/http/shown_run.h"

// Any two runs of the ledger beside each other.
namespace nl::servers::http {
namespace {

constexpr std::size_t kOffered = 100;  // of the newest runs, in the list of names

Comparison comparison_of(Parts& parts, const Fields& query) {
  const std::string first = query.first("a"), second = query.first("b");
  if (first.empty() || second.empty()) throw Error(ErrorKind::kUsage, "two runs are needed", "a, b", "/compare?a=RUN&b=RUN");
  auto ledger = parts.ledgers.borrow();
  const Run a = recorded_run(*ledger, ledger->resolve(first)), b = recorded_run(*ledger, ledger->resolve(second));
  analysis::CompareOptions options;
  options.force = query.first("force") == "1";
  options.recorded = [&](const Run& run, const std::string& stage) { return runs::recorded_wander(run, stage, parts.options.ledger); };
  Comparison comparison = analysis::compare(std::span(&a, 1), std::span(&b, 1), options);
  return comparison;
}

std::string offered_names(Parts& parts) {
  runs::LedgerFilter filter;
  filter.limit = kOffered;
  std::string out = "<datalist id=\"runs\">";
  for (const auto& entry : parts.ledgers.borrow()->query(filter))
    out +=
        fmt::format("<option{}>{} · {}</option>", attribute("value", entry.run_id), text(entry.name), text(minute_text(entry.created_at)));
  return out + "</datalist>";
}

std::string side(const Ask& ask, const char* name, const char* title) {
  return fmt::format(
      "<label class=\"grow\">{}<input name=\"{}\" list=\"runs\" required placeholder=\"an id, a name, tag:baseline, last\"{}></label>",
      title, name, attribute("value", ask.query.first(name)));
}

Response compare_page(Parts& parts, const Ask& ask) {
  const std::string a = ask.query.first("a"), b = ask.query.first("b");
  const bool force = ask.query.first("force") == "1";
  std::string body = "<header><h1>Compare two runs</h1></header>\n<form class=\"bar\" method=\"get\" action=\"/compare\">" +
                     side(ask, "a", "before") + side(ask, "b", "after") +
                     fmt::format(
                         "<label>differing workloads<select name=\"force\"><option value=\"\">refuse</option><option value=\"1\"{}>compare "
                         "nevertheless</option></select></label><button class=\"main\">Compare</button></form>\n{}\n",
                         force ? " selected" : "", offered_names(parts));
  if (!a.empty() && !b.empty()) {
    Fields query;
    query.add("a", a);
    query.add("b", b);
    if (force) query.add("force", "1");
    for (const char* name : {"a", "b"})
      parts.ledgers.borrow()->resolve(ask.query.first(name));  // what is not there is said here, not in the frame
    body += frame("/compare/document" + query_text(query), "The comparison");
  } else {
    body +=
        "<p class=\"muted\">The verdict follows from the interval of the change alone. With one run a side, how much runs differ is taken "
        "from the "
        "ledger, or assumed.</p>\n";
  }
  return page_response(parts, ask, {"Compare", "/compare", body});
}

}  // namespace

void add_compare_routes(std::vector<Route>& routes, Parts& parts) {
  const std::vector<Parameter> parameters = {{"a", "the run before: its id, the beginning of it, its name, tag:NAME, last, last~1 …", true},
                                             {"b", "the run after, likewise", true},
                                             {"force", "1: compare runs that differ in what they should have in common"}};
  routes.push_back({"GET", "/compare", Entry::kRead, Pace::kQuick, "Two runs beside each other",
                    [&parts](const Ask& ask) { return compare_page(parts, ask); }, parameters, kHtml});
  routes.push_back({"GET", "/compare/document", Entry::kRead, Pace::kSlow, "compare.html of two runs",
                    [&parts](const Ask& ask) {
                      return framed_document(exporters::comparison_html(comparison_of(parts, ask.query), parts.options.version));
                    },
                    parameters, kHtml});
  routes.push_back(
      {"GET", "/api/v1/compare", Entry::kRead, Pace::kSlow, "compare.json of two runs of the ledger",
       [&parts](const Ask& ask) { return Response{200, kJson, exporters::comparison_to_json(comparison_of(parts, ask.query))}; },
       parameters});
}

}  // namespace nl::servers::http
