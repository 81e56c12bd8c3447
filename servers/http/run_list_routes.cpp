#include "runs/ledger/entry_json.h"
#include "servers/http/figures.h"
#include "servers/http/filters.h"
#include "servers/http/layout.h"

// The list of runs, newest first: as a page and as JSON.
namespace nl::servers::http {
namespace {

constexpr std::size_t kPageRuns = 50, kMostRuns = 1000;

struct RunList {
  std::vector<runs::LedgerEntry> entries;
  bool more = false;
};

RunList list_of(Parts& parts, runs::LedgerFilter filter, std::size_t most) {
  filter.limit = most + 1;  // one more tells whether there are more
  RunList list{parts.ledgers.borrow()->query(filter)};
  list.more = list.entries.size() > most;
  if (list.more) list.entries.pop_back();
  return list;
}

std::string tag_links(const std::vector<std::string>& tags) {
  std::string out;
  for (const std::string& tag : tags) {
    Fields query;
    query.add("tag", tag);
    out += fmt::format("<a class=\"tag\"{}>{}</a> ", attribute("href", "/runs" + query_text(query)), text(tag));
  }
  return out;
}

std::string row_of_run(const runs::LedgerEntry& entry) {
  const ShownFigure figure = headline_of(entry.metrics);
  return fmt::format(
      "<tr><th scope=\"row\"><a class=\"name\"{}>{}</a><span class=\"id\">{} · {}</span></th><td class=\"figure n\">{}</td><td><span "
      "class=\"pill "
      "{}\">{}</span></td><td class=\"words\">{}</td><td class=\"words\">{}</td><td class=\"words\">{}</td></tr>\n",
      attribute("href", "/runs/" + escaped(entry.run_id)), text(entry.name.empty() ? entry.run_id : entry.name),
      text(minute_text(entry.created_at)), text(entry.run_id),
      figure.value.empty() ? "" : fmt::format("<b>{}</b><span>{}</span>", text(figure.value), text(figure.title)), text(entry.status),
      text(entry.status), text(entry.model), text(entry.hardware), tag_links(entry.tags));
}

std::string input(const Fields& query, const char* name, const char* title, const char* hint, const char* more = "") {
  return fmt::format("<label{}>{}<input name=\"{}\"{}{}></label>", more, title, name, attribute("value", query.first(name)),
                     attribute("placeholder", hint));
}

std::string status_choice(const Fields& query) {
  std::string options = "<option value=\"\">any</option>";
  for (const char* status : {"complete", "partial", "interrupted", "failed"})
    options += fmt::format("<option{}>{}</option>", query.first("status") == status ? " selected" : "", status);
  return "<label>status<select name=\"status\">" + options + "</select></label>";
}

std::string filter_form(const Fields& query) {
  return "<form class=\"bar\" method=\"get\" action=\"/runs\" role=\"search\">" +
         input(query, "q", "words", "of names, kernels, findings, notes", " class=\"grow\"") + input(query, "model", "model", "llama") +
         input(query, "gpu", "GPU", "H200") + input(query, "tag", "tag", "nightly") + input(query, "since", "since", "7d") +
         status_choice(query) + "<button class=\"main\">Search</button><a href=\"/runs\">Clear</a></form>\n";
}

// The same question, for the runs behind the last.
std::string older_address(const Fields& query, const runs::LedgerEntry& last) {
  Fields next;
  for (const auto& [name, value] : query.pairs())
    if (name != "after" && !value.empty()) next.add(name, value);
  next.add("after", key_text(last));
  return "/runs" + query_text(next);
}

std::string newest_address(const Fields& query) {
  Fields first;
  for (const auto& [name, value] : query.pairs())
    if (name != "after" && !value.empty()) first.add(name, value);
  return "/runs" + query_text(first);
}

std::string list_markup(const RunList& list, const Fields& query) {
  if (list.entries.empty())
    return "<p class=\"missing\">No run fits. Rounds of try, bisect and suite are left out; <a href=\"/runs?all=1\">all runs</a> has "
           "them.</p>\n";
  std::string out =
      "<div class=\"scroll\"><table class=\"runs\"><thead><tr><th scope=\"col\">Run</th><th scope=\"col\" class=\"n\">Figure</th><th "
      "scope=\"col\">Status</th><th scope=\"col\">Model</th><th scope=\"col\">Hardware</th><th "
      "scope=\"col\">Tags</th></tr></thead>\n<tbody>\n";
  for (const runs::LedgerEntry& entry : list.entries) out += row_of_run(entry);
  out += "</tbody></table></div>\n<p class=\"pages\">";
  if (!query.first("after").empty()) out += fmt::format("<a{}>Newest</a>", attribute("href", newest_address(query)));
  out += list.more ? fmt::format("<a rel=\"next\"{}>Older runs</a>", attribute("href", older_address(query, list.entries.back())))
                   : "<span>No older runs.</span>";
  return out + "</p>\n";
}

Response list_page(Parts& parts, const Ask& ask) {
  runs::LedgerFilter filter = filter_of(ask.query);
  filter.metrics = headline_keys();
  const RunList list = list_of(parts, std::move(filter), kPageRuns);
  return page_response(parts, ask,
                       {"Runs", "/runs", "<header><h1>Runs</h1></header>\n" + filter_form(ask.query) + list_markup(list, ask.query)});
}

Response list_json(Parts& parts, const Ask& ask) {
  runs::LedgerFilter filter = filter_of(ask.query);
  filter.metrics = ask.query.all("metric");
  if (filter.metrics.size() > 20) throw Error(ErrorKind::kUsage, "more than 20 metrics are asked for", "metric", "ask for fewer");
  const RunList list = list_of(parts, std::move(filter), number_in(ask.query, "limit", kPageRuns, kMostRuns));
  nlohmann::ordered_json json = {{"runs", nlohmann::ordered_json::array()}};
  for (const runs::LedgerEntry& entry : list.entries) json["runs"].push_back(runs::entry_json(entry));
  json["next"] = list.more ? nlohmann::ordered_json(key_text(list.entries.back())) : nlohmann::ordered_json();
  return json_response(json);
}

}  // namespace

void add_run_list_routes(std::vector<Route>& routes, Parts& parts) {
  std::vector<Parameter> parameters = filter_parameters();
  parameters.push_back({"after", "the runs behind this place: `next` of the answer before"});
  routes.push_back({"GET", "/runs", Entry::kRead, Pace::kQuick, "The runs, newest first",
                    [&parts](const Ask& ask) { return list_page(parts, ask); }, parameters, kHtml});
  parameters.push_back({"limit", "at most so many; 50, at most 1000"});
  parameters.push_back({"metric", "a metric to tell with each run: tpot_ms; repeated: several", false, true});
  routes.push_back({"GET", "/api/v1/runs", Entry::kRead, Pace::kQuick,
                    "The runs, newest first: {runs: [as `nl-stage ls --json`], next}; next: `after` of the next page, null: there is none",
                    [&parts](const Ask& ask) { return list_json(parts, ask); }, parameters});
}

}  // namespace nl::servers::http
