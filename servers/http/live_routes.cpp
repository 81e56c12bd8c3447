#include <chrono>

#include "model/time.h"
#include "orchestrator/live/live_runs.h"
#include "servers/http/figures.h"
#include "servers/http/layout.h"

// Runs that go on now, on this machine, of the user who runs the server.
namespace nl::servers::http {
namespace {

std::string live_row(const orchestrator::LiveRun& run, bool may_write) {
  const std::string stop = may_write
                               ? fmt::format("<form method=\"post\" action=\"/live/{}/stop\"><button class=\"stop\">Stop</button></form>",
                                             text(escaped(run.run_id)))
                               : std::string();
  return fmt::format(
      "<tr><th scope=\"row\">{}<span class=\"id\">{}</span></th><td class=\"words\">{}</td><td>since {}</td><td "
      "class=\"words\"><code>{}</code></td>"
      "<td>{}</td></tr>\n",
      text(run.name.empty() ? run.run_id : run.name), text(run.run_id), text(run.progress), text(minute_text(run.since)), text(run.bundle),
      stop);
}

std::string live_markup(bool may_write) {
  const auto runs = orchestrator::live_runs();
  std::string out = "<div id=\"live\">";
  if (runs.empty())
    return out + "<p class=\"missing\">No run goes on. Runs that end are in the <a href=\"/runs\">list of runs</a>.</p></div>\n";
  out +=
      "<div class=\"scroll\"><table class=\"runs\"><thead><tr><th scope=\"col\">Run</th><th scope=\"col\">What it does</th><th "
      "scope=\"col\">Began (UTC)</th><th scope=\"col\">Bundle</th><th scope=\"col\"></th></tr></thead><tbody>\n";
  for (const auto& run : runs) out += live_row(run, may_write);
  return out + "</tbody></table></div></div>\n";
}

Response live_page(const Parts& parts, const Ask& ask) {
  const std::string body =
      "<header><h1>Live runs</h1></header>\n" + live_markup(ask.may_write) +
      "<p class=\"muted\">Runs of this machine and of the user who runs this server. A run that is stopped keeps what it has "
      "captured, as with Ctrl-C; this server may end without harm to it.</p>\n";
  return page_response(parts, ask, {"Live", "/live", body, Script::kPages});
}

nlohmann::ordered_json live_json() {
  auto list = nlohmann::ordered_json::array();
  for (const auto& run : orchestrator::live_runs())
    list.push_back({{"run_id", run.run_id},
                    {"name", run.name},
                    {"bundle", run.bundle},
                    {"since", run.since},
                    {"progress", run.progress},
                    {"pid", run.pid}});
  return {{"live", list}};
}

void stop(const std::string& run_id) {
  if (!orchestrator::stop_live_run(run_id))
    throw Error(ErrorKind::kInput, "no run of this id goes on", run_id, "/live lists those that do");
}

}  // namespace

void add_live_routes(std::vector<Route>& routes, Parts& parts) {
  routes.push_back({"GET",
                    "/live",
                    Entry::kRead,
                    Pace::kQuick,
                    "Runs that go on now",
                    [&parts](const Ask& ask) { return live_page(parts, ask); },
                    {},
                    kHtml});
  routes.push_back({"POST",
                    "/live/{run}/stop",
                    Entry::kWrite,
                    Pace::kQuick,
                    "Stop a run; it keeps its bundle",
                    [](const Ask& ask) {
                      stop(ask.names.at(0));
                      return redirect("/live");
                    },
                    {},
                    kHtml});
  routes.push_back({"GET", "/api/v1/live", Entry::kRead, Pace::kQuick,
                    "Runs that go on now: {live: [{run_id, name, bundle, since, progress, pid}]}",
                    [](const Ask&) { return json_response(live_json()); }});
  routes.push_back({"POST",
                    "/api/v1/live/{run}/stop",
                    Entry::kWrite,
                    Pace::kQuick,
                    "Stop a run, as Ctrl-C does; it keeps its bundle: {stopped}",
                    [](const Ask& ask) {
                      stop(ask.names.at(0));
                      return json_response({{"stopped", ask.names.at(0)}});
                    },
                    {},
                    kJson,
                    nlohmann::ordered_json{{"type", "object"}}});
}

}  // namespace nl::servers::http
