#include "servers/http/layout.h"

#include "model/input_bounds.h"
#include "model/words.h"

namespace nl::servers::http {

// Embedded by tools/embed, with the digest by which the policy lets it in.
extern const std::string_view kPagesJs, kPagesJsDigest;

namespace {

struct Link {
  const char *address, *title;
};
constexpr Link kLinks[] = {{"/runs", "Runs"}, {"/compare", "Compare"}, {"/trends", "Trends"}, {"/suites", "Suites"}, {"/live", "Live"}};

std::string navigation(const Ask* ask, const std::string& place) {
  std::string links;
  for (const Link& link : kLinks)
    links += fmt::format("<a href=\"{}\"{}>{}</a>", link.address, place == link.address ? " aria-current=\"page\"" : "", link.title);
  std::string who;
  if (ask != nullptr && !ask->who.empty())
    who = fmt::format("<form method=\"post\" action=\"/logout\" class=\"who\"><span>{}</span><button>Sign out</button></form>",
                      text(ask->who));
  else if (ask != nullptr) who = "<a class=\"who\" href=\"/login\">Sign in</a>";
  return fmt::format("<nav aria-label=\"Pages\"><a class=\"brand\" href=\"/runs\">nl-stage</a><div class=\"links\">{}</div>{}</nav>\n",
                     links, who);
}

std::string policy(const Page& page) {
  return fmt::format(
      "default-src 'none'; style-src 'self'{}{}; script-src {}; connect-src 'self'; img-src data:; frame-src 'self'; form-action 'self'; "
      "base-uri 'none'; "
      "frame-ancestors 'none'",
      page.more_style.empty() ? "" : " ", page.more_style,
      page.script == Script::kNone ? "'none'" : fmt::format("'sha256-{}'", kPagesJsDigest));
}

Response whole_page(const Parts& parts, const Ask* ask, const Page& page, int status) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>{} · nl-stage</title>\n<link rel=\"stylesheet\" "
      "href=\"/style.css\">\n<link rel=\"icon\" href=\"data:,\">\n</head>\n<body>\n",
      text(page.title));
  html += navigation(ask, page.place);
  html += fmt::format(
      "<main{}>\n{}</main>\n<footer>nl-stage {} · <a href=\"/api/v1/openapi.json\">API</a> · <a "
      "href=\"/metrics\">metrics</a></footer>\n",
      page.wide ? " class=\"wide\"" : "", page.body, text(parts.options.version));
  if (page.script == Script::kPages) html += fmt::format("<script>{}</script>\n", kPagesJs);
  Response response{status, kHtml, html + "</body>\n</html>\n"};
  return response.with("Content-Security-Policy", policy(page));
}

}  // namespace

Response page_response(const Parts& parts, const Ask& ask, const Page& page, int status) { return whole_page(parts, &ask, page, status); }

Response error_page(const Parts& parts, int status, const Error& error) {
  std::string body = fmt::format("<header><h1>{}</h1></header>\n", status == 404   ? "Not found"
                                                                   : status >= 500 ? "That did not work"
                                                                                   : "Not possible");
  body += notice(fmt::format("<p>{}.</p>{}{}", text(error.message),
                             error.where.empty() ? "" : fmt::format("<p class=\"muted small\">where: {}</p>", text(error.where)),
                             error.fix.empty() ? "" : fmt::format("<p>fix: {}</p>", text(error.fix))));
  return whole_page(parts, nullptr, {"Error", "", body}, status);
}

Response error_response(int status, const Error& error) {
  static constexpr std::string_view kKinds[] = {"internal", "usage",   "config",  "input",  "tool",
                                                "workload", "capture", "timeout", "output", "interrupted"};
  const auto or_null = [](const std::string& words) { return words.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(words); };
  const nlohmann::ordered_json json = {{"kind", kKinds[static_cast<std::size_t>(error.kind)]},
                                       {"what", error.message},
                                       {"where", or_null(error.where)},
                                       {"fix", or_null(error.fix)}};
  return json_response({{"error", json}}, status);
}

Response framed_document(std::string html) {
  Response response{200, kHtml, std::move(html)};
  response.with("Cross-Origin-Opener-Policy", "unsafe-none");  // browsers refuse any other for a document that is a stranger
  return response.with(
      "Content-Security-Policy",
      "sandbox allow-scripts allow-downloads; default-src 'unsafe-inline' data: blob:; connect-src 'none'; form-action 'none'; "
      "base-uri 'none'; frame-ancestors 'self'");
}

std::string frame(const std::string& address, const std::string& title) {
  return fmt::format("<iframe class=\"document\" sandbox=\"allow-scripts allow-downloads\"{}{}></iframe>\n", attribute("src", address),
                     attribute("title", title));
}

nlohmann::json body_object(const Ask& ask) {
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(json_within_bounds(ask.request.body, "the body", {64, 100'000}));
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::kUsage, "the body is no JSON", ask.request.target, "/api/v1/openapi.json has what it takes");
  } catch (const Error& error) {
    throw Error(ErrorKind::kUsage, error.message, error.where, error.fix);
  }
  if (!json.is_object())
    throw Error(ErrorKind::kUsage, "the body is no JSON object", ask.request.target, "/api/v1/openapi.json has what it takes");
  return json;
}

std::string notice(const std::string& markup) { return "<div class=\"problems\" role=\"note\">" + markup + "</div>\n"; }

}  // namespace nl::servers::http
