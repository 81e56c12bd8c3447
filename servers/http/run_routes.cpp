#include "exporters/report/reports.h"
#include "model/run_metrics.h"
#include "runs/ledger/bundles.h"
#include "runs/ledger/entry_json.h"
#include "servers/http/figures.h"
#include "servers/http/layout.h"
#include "servers/http/query_box.h"
#include "servers/http/shown_run.h"

// One run: its report, its tags and notes.
namespace nl::servers::http {
namespace {

constexpr std::size_t kMostNoteBytes = 10'000;
constexpr std::size_t kMostTagBytes = 100;

std::string address_of_run(const std::string& run_id) { return "/runs/" + escaped(run_id); }

std::string fact(const char* title, const std::string& value) {
  return value.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>", title, text(value));
}

std::string facts_markup(const runs::LedgerEntry& entry) {
  return "<dl class=\"facts-list\">" + fact("made", entry.created_at) + fact("run", entry.run_id) +
         fact("model", entry.model + (entry.precision.empty() ? "" : fmt::format(" ({})", entry.precision))) +
         fact("hardware", entry.hardware) + fact("backend", entry.backend) + fact("workload", entry.workload_text) +
         fact("commit", entry.revision + (entry.modified.value_or(false) ? " (with changes)" : "")) + fact("command", entry.command) +
         fact("bundle", fmt::format("{} ({})", entry.bundle.string(), runs::word_of(runs::bundle_state(entry)))) + "</dl>\n";
}

std::string tag_markup(const runs::LedgerEntry& entry, const std::string& tag, bool may_write) {
  if (!may_write) return fmt::format("<span class=\"tag\">{}</span>", text(tag));
  return fmt::format(
      "<span class=\"tag\">{0}<form method=\"post\" action=\"{1}/tags\"><input type=\"hidden\" "
      "name=\"remove\"{2}><button{3}>×</button></form></span>",
      text(tag), text(address_of_run(entry.run_id)), attribute("value", tag), attribute("aria-label", "remove the tag " + tag));
}

std::string remarks_markup(const runs::LedgerEntry& entry, const std::vector<runs::LedgerNote>& notes, bool may_write) {
  std::string tags, list;
  for (const std::string& tag : entry.tags) tags += tag_markup(entry, tag, may_write) + " ";
  for (const runs::LedgerNote& note : notes)
    list += fmt::format("<li>{} <span class=\"muted small\">{}</span></li>", text(note.text), text(minute_text(note.written_at)));
  std::string out = "<div class=\"remarks\"><div><h3>Tags</h3><p class=\"tags\">" + (tags.empty() ? std::string("none") : tags) + "</p>";
  const std::string address = text(address_of_run(entry.run_id));
  if (may_write)
    out += fmt::format(
        "<form class=\"remark\" method=\"post\" action=\"{}/tags\"><input name=\"add\" aria-label=\"new tag\" placeholder=\"one word\" "
        "maxlength=\"{}\" required><button>Add tag</button></form>",
        address, kMostTagBytes);
  out += "</div><div><h3>Notes</h3>" + (list.empty() ? std::string("<p>none</p>") : "<ul>" + list + "</ul>");
  if (may_write)
    out += fmt::format(
        "<form class=\"remark\" method=\"post\" action=\"{}/notes\"><input name=\"text\" aria-label=\"new note\" placeholder=\"what is "
        "worth knowing of this run\" maxlength=\"{}\" required><button>Add note</button></form>",
        address, kMostNoteBytes);
  return out + "</div></div>\n";
}

// What the reader has to know before the report: that it has no timeline, and why.
std::string source_markup(const runs::LedgerEntry& entry) {
  std::string archive;
  switch (shown_from(entry, archive)) {
    case ShownFrom::kBundle: return "";
    case ShownFrom::kArchive:
      return fmt::format("<p class=\"missing\">The bundle is not here. The report comes from its archive, <code>{}</code>.</p>\n",
                         text(archive));
    case ShownFrom::kLedger: break;
  }
  return fmt::format(
      "<p class=\"missing\">The bundle is not here ({}). The report shows what the ledger keeps: all figures and findings, not the slices "
      "of "
      "the timeline.</p>\n",
      text(runs::word_of(runs::bundle_state(entry))));
}

Response run_page(Parts& parts, const Ask& ask) {
  auto ledger = parts.ledgers.borrow();
  const runs::LedgerEntry entry = ledger->resolve(ask.names.at(0));
  if (entry.run_id != ask.names.at(0)) return redirect(address_of_run(entry.run_id));  // last, a name: the address that stays
  const std::string title = entry.name.empty() ? entry.run_id : entry.name;
  std::string body =
      fmt::format("<header><h1>{} <span class=\"pill {}\">{}</span></h1></header>\n", text(title), text(entry.status), text(entry.status));
  body += facts_markup(entry) + remarks_markup(entry, ledger->notes(entry.run_id), ask.may_write);
  Fields compare;
  compare.add("a", entry.run_id);
  body += fmt::format("<p><a{}>Compare with another run</a> · <a{}>run.json</a> · <a{}>Report on a page of its own</a></p>\n",
                      attribute("href", "/compare" + query_text(compare)),
                      attribute("href", "/api/v1/runs/" + escaped(entry.run_id) + "/run.json"),
                      attribute("href", address_of_run(entry.run_id) + "/report"));
  body += query_box(parts, entry.run_id) + source_markup(entry) + frame(address_of_run(entry.run_id) + "/report", "The report of " + title);
  return page_response(parts, ask, {title, "/runs", body, Script::kPages});
}

Response report_document(Parts& parts, const Ask& ask) {
  auto ledger = parts.ledgers.borrow();
  const ShownRun shown = shown_run(*ledger, ledger->resolve(ask.names.at(0)));
  return framed_document(exporters::report_html(shown.run, {shown.detail, {}}));
}

void add_note_to(runs::Ledger& ledger, const std::string& run_id, const std::string& note) {
  if (note.find_first_not_of(" \t\r\n") == std::string::npos || note.size() > kMostNoteBytes)
    throw Error(ErrorKind::kUsage, fmt::format("a note has 1 to {} bytes", kMostNoteBytes), run_id, "shorten it");
  ledger.add_note(run_id, note);
}

void change_tags(runs::Ledger& ledger, const std::string& run_id, const std::vector<std::string>& add,
                 const std::vector<std::string>& remove) {
  for (const std::string& tag : add) {
    if (tag.size() > kMostTagBytes)
      throw Error(ErrorKind::kUsage, fmt::format("a tag has at most {} bytes", kMostTagBytes), run_id, "shorten it");
    ledger.add_tag(run_id, tag);
  }
  for (const std::string& tag : remove) ledger.remove_tag(run_id, tag);
}

Response post_tags(Parts& parts, const Ask& ask) {
  auto ledger = parts.ledgers.borrow();
  const std::string run_id = ledger->resolve(ask.names.at(0)).run_id;
  change_tags(*ledger, run_id, ask.form.all("add"), ask.form.all("remove"));
  return redirect(address_of_run(run_id));
}

Response post_note(Parts& parts, const Ask& ask) {
  auto ledger = parts.ledgers.borrow();
  const std::string run_id = ledger->resolve(ask.names.at(0)).run_id;
  add_note_to(*ledger, run_id, ask.form.first("text"));
  return redirect(address_of_run(run_id));
}

nlohmann::ordered_json run_as_json(runs::Ledger& ledger, const std::string& name) {
  runs::LedgerEntry entry = ledger.resolve(name);
  entry.metrics = ledger.metrics(entry.run_id);
  return runs::shown_json(entry, ledger.notes(entry.run_id));
}

std::vector<std::string> texts_in(const nlohmann::json& body, const char* name) {
  std::vector<std::string> texts;
  if (const auto found = body.find(name); found != body.end()) {
    if (!found->is_array()) throw Error(ErrorKind::kUsage, fmt::format("{} is no list of texts", name), "the body", "");
    for (const auto& each : *found) {
      if (!each.is_string()) throw Error(ErrorKind::kUsage, fmt::format("{} is no list of texts", name), "the body", "");
      texts.push_back(each);
    }
  }
  return texts;
}

Response tags_by_api(Parts& parts, const Ask& ask) {
  const nlohmann::json body = body_object(ask);
  auto ledger = parts.ledgers.borrow();
  const std::string run_id = ledger->resolve(ask.names.at(0)).run_id;
  change_tags(*ledger, run_id, texts_in(body, "add"), texts_in(body, "remove"));
  return json_response({{"run_id", run_id}, {"tags", ledger->resolve(run_id).tags}});
}

Response note_by_api(Parts& parts, const Ask& ask) {
  const nlohmann::json body = body_object(ask);
  if (!body.contains("text") || !body["text"].is_string())
    throw Error(ErrorKind::kUsage, "text is missing", "the body", "send {\"text\": \"…\"}");
  auto ledger = parts.ledgers.borrow();
  const std::string run_id = ledger->resolve(ask.names.at(0)).run_id;
  add_note_to(*ledger, run_id, body["text"]);
  return json_response({{"run_id", run_id}, {"notes", ledger->notes(run_id).size()}});
}

const nlohmann::ordered_json& tags_schema() {
  static const auto schema = nlohmann::ordered_json::parse(
      R"({"type": "object", "properties": {"add": {"type": "array", "items": {"type": "string"}}, "remove": {"type": "array", "items": {"type": "string"}}}})");
  return schema;
}

const nlohmann::ordered_json& note_schema() {
  static const auto schema =
      nlohmann::ordered_json::parse(R"({"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}})");
  return schema;
}

}  // namespace

void add_run_routes(std::vector<Route>& routes, Parts& parts) {
  const auto route = [&](const char* method, const char* path, Entry entry, Pace pace, const char* summary,
                         Response (*answer)(Parts&, const Ask&), std::string type = kJson, nlohmann::ordered_json body = {}) {
    routes.push_back({method,
                      path,
                      entry,
                      pace,
                      summary,
                      [&parts, answer](const Ask& ask) { return answer(parts, ask); },
                      {},
                      std::move(type),
                      std::move(body)});
  };
  route("GET", "/runs/{run}", Entry::kRead, Pace::kQuick, "A run, with its report", run_page, kHtml);
  route("GET", "/runs/{run}/report", Entry::kRead, Pace::kSlow, "The report of a run, written anew from its run.json", report_document,
        kHtml);
  route("POST", "/runs/{run}/tags", Entry::kWrite, Pace::kQuick, "Give a run tags, or take them away", post_tags, kHtml);
  route("POST", "/runs/{run}/notes", Entry::kWrite, Pace::kQuick, "Write a note to a run", post_note, kHtml);
  route("GET", "/api/v1/runs/{run}", Entry::kRead, Pace::kQuick, "What the ledger keeps of a run, with its notes",
        [](Parts& all, const Ask& ask) { return json_response(run_as_json(*all.ledgers.borrow(), ask.names.at(0))); });
  route("GET", "/api/v1/runs/{run}/run.json", Entry::kRead, Pace::kQuick, "The run.json that the ledger keeps",
        [](Parts& all, const Ask& ask) {
          auto ledger = all.ledgers.borrow();
          return Response{200, kJson, ledger->run_json(ledger->resolve(ask.names.at(0)).run_id)};
        });
  route("POST", "/api/v1/runs/{run}/tags", Entry::kWrite, Pace::kQuick, "Give a run tags, or take them away: {run_id, tags}", tags_by_api,
        kJson, tags_schema());
  route("POST", "/api/v1/runs/{run}/notes", Entry::kWrite, Pace::kQuick, "Write a note to a run: {run_id, notes}", note_by_api, kJson,
        note_schema());
}

}  // namespace nl::servers::http
