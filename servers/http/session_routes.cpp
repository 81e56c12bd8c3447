#include "servers/http/layout.h"

// Signing in, and what every page needs.
namespace nl::servers::http {

extern const std::string_view kPagesCss;

namespace {

// Only addresses of ours: "//elsewhere" and "/\elsewhere" are of others.
std::string safe_next(const std::string& next) {
  const bool ours =
      next.starts_with('/') && !next.starts_with("//") && next.find('\\') == std::string::npos && parse_target(next).has_value();
  return ours ? next : "/runs";
}

Response login_page(const Parts& parts, const Ask& ask, const std::string& next, const std::string& wrong) {
  std::string body = "<header><h1>Sign in</h1></header>\n";
  if (!wrong.empty()) body += notice("<p>" + text(wrong) + "</p>");
  body += fmt::format(
      "<form class=\"login\" method=\"post\" action=\"/login\"><input type=\"hidden\" name=\"next\"{}><input name=\"username\" "
      "autocomplete=\"username\" value=\"nl-stage\" hidden><label class=\"field\">Token<input "
      "name=\"token\" type=\"password\" autocomplete=\"current-password\" required></label><div><button class=\"main\">Sign "
      "in</button></div></form>\n<p class=\"muted\">Whoever runs this server makes a token: <code>nl-stage serve token add NAME --role "
      "write</code>. With the role read it opens the pages; with write it also changes tags and notes, and stops runs.</p>\n",
      attribute("value", next));
  return page_response(parts, ask, {"Sign in", "/login", body}, wrong.empty() ? 200 : 401);
}

Response sign_in(const Parts& parts, const Ask& ask) {
  const std::string token = ask.form.first("token"), next = safe_next(ask.form.first("next"));
  if (!parts.tokens.owner_of(token)) return login_page(parts, ask, next, "This token is not known.");
  Response response = redirect(next);
  return response.with("Set-Cookie", cookie_header(parts.options.gate, token, ask.request.tls));
}

Response style_sheet() {
  static const std::string css = std::string(exporters::html::style()) + std::string(kPagesCss);
  Response response{200, "text/css; charset=utf-8", css};
  return response.with("Cache-Control", "private, max-age=300");
}

}  // namespace

void add_session_routes(std::vector<Route>& routes, Parts& parts) {
  routes.push_back({"GET", "/", Entry::kOpen, Pace::kQuick, "The runs", [](const Ask&) { return redirect("/runs"); }, {}, kHtml});
  routes.push_back({"GET",
                    "/style.css",
                    Entry::kOpen,
                    Pace::kQuick,
                    "The style of the pages",
                    [](const Ask&) { return style_sheet(); },
                    {},
                    "text/css"});
  routes.push_back({"GET",
                    "/healthz",
                    Entry::kOpen,
                    Pace::kQuick,
                    "Whether the server answers",
                    [](const Ask&) { return text_response("ok\n"); },
                    {},
                    "text/plain"});
  routes.push_back({"GET",
                    "/login",
                    Entry::kOpen,
                    Pace::kQuick,
                    "Sign in with a token",
                    [&parts](const Ask& ask) { return login_page(parts, ask, safe_next(ask.query.first("next")), ""); },
                    {},
                    kHtml});
  routes.push_back({"POST",
                    "/login",
                    Entry::kOpen,
                    Pace::kQuick,
                    "Sign in with a token",
                    [&parts](const Ask& ask) { return sign_in(parts, ask); },
                    {},
                    kHtml});
  routes.push_back({"POST",
                    "/logout",
                    Entry::kOpen,
                    Pace::kQuick,
                    "Sign out",
                    [&parts](const Ask& ask) {
                      Response response = redirect("/runs");
                      return response.with("Set-Cookie", cookie_header(parts.options.gate, "", ask.request.tls));
                    },
                    {},
                    kHtml});
}

}  // namespace nl::servers::http
