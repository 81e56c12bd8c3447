#include "servers/http/site.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <new>

#include "model/error.h"
#include "model/words.h"
#include "servers/http/layout.h"

namespace nl::servers::http {
namespace {

constexpr int kUnauthorized = 401, kTooMany = 429;

int status_of(const Error& error, const Request& request) {
  switch (error.kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kConfig: return 400;
    case ErrorKind::kInput: return 404;
    case ErrorKind::kTimeout: return 504;
    case ErrorKind::kInterrupted: return request.stop.stop_requested() ? 504 : 503;
    case ErrorKind::kOutput: return 503;  // a ledger that is locked or cannot be reached
    default: return 500;
  }
}

// Nothing of an answer is stored, framed elsewhere, guessed at, or told to another site. A page that needs more of a policy has its own.
void add_policy(Response& response) {
  const auto has = [&](std::string_view name) {
    for (const auto& [each, value] : response.headers)
      if (each == name) return true;
    return false;
  };
  if (!has("Content-Security-Policy")) response.with("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  if (!has("Cache-Control")) response.with("Cache-Control", "no-store");
  response.with("X-Content-Type-Options", "nosniff");
  response.with("Referrer-Policy", "same-origin");  // with no-referrer browsers hide where a form comes from
  if (!has("Cross-Origin-Opener-Policy")) response.with("Cross-Origin-Opener-Policy", "same-origin");
  response.with("Cross-Origin-Resource-Policy", "same-origin");
}

bool wants_page(const Request& request, const Route* route) {
  if (route != nullptr && is_api(*route)) return false;
  if (request.target.starts_with("/api/")) return false;
  return request.header("accept").value_or("").find("text/html") != std::string::npos;
}

bool is_json(const Request& request) {
  const std::string type = request.header("content-type").value_or("");
  return type.starts_with(kJson) && (type.size() == std::string_view(kJson).size() || type[std::string_view(kJson).size()] == ';');
}

bool is_form(const Request& request) {
  return request.header("content-type").value_or("").starts_with("application/x-www-form-urlencoded");
}

std::optional<Refusal> refuse_body(const Route& route, const Request& request) {
  if (route.method == "GET") return std::nullopt;
  if (is_api(route) && !is_json(request)) return Refusal{415, "the body has to be JSON", "send Content-Type: application/json"};
  if (!is_api(route) && !request.body.empty() && !is_form(request))
    return Refusal{415, "the body has to be a form", "use the form of the page"};
  return std::nullopt;
}

}  // namespace

Site::Site(SiteOptions options, Tools& tools, Counters& counters)
    : parts_(std::move(options), tools, counters), rate_(parts_.options.requests_per_second) {
  for (const auto add : {add_session_routes, add_run_list_routes, add_run_routes, add_compare_routes, add_trend_routes, add_suite_routes,
                         add_live_routes, add_tool_routes, add_metrics_route})
    add(routes_, parts_);
  routes_.push_back({"GET", "/api/v1/openapi.json", Entry::kRead, Pace::kQuick, "This description of the API",
                     [this](const Ask&) { return json_response(openapi(routes_, parts_.options.version)); }});
}

Pace Site::pace_of(const Request& request) const {
  const auto target = parse_target(request.target);
  const Found found = target ? find_route(routes_, request.method, target->path) : Found();
  return found.route != nullptr ? found.route->pace : Pace::kQuick;
}

Response Site::answer(const Request& request) noexcept {
  const auto begin = std::chrono::steady_clock::now();
  std::string path = "none";  // of the route: a path as it was sent may be anything
  Response response;
  try {
    response = checked_answer(request, path);
    add_policy(response);
  } catch (const std::exception&) {  // out of memory
    response = Response{500, kText, "the server could not answer\n"};
  }
  try {
    parts_.counters.add(path, path == "none" ? "any" : request.method, response.status,
                        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  } catch (const std::exception&) {  // what is not counted is answered nevertheless
  }
  return response;
}

// What is wrong with the request whatever it asks for; then the route, and who may take it.
Response Site::checked_answer(const Request& request, std::string& path) {
  if (const auto refusal = refuse_foreign(request, parts_.options.gate)) return refused(request, *refusal, nullptr);
  if (!rate_.allows(request.client))
    return refused(request, {kTooMany, "too many requests", "wait a second"}, nullptr).with("Retry-After", "1");
  auto target = parse_target(request.target);
  if (!target) return refused(request, {400, "the address is none of this server", "start at /"}, nullptr);
  Found found = find_route(routes_, request.method, target->path);
  if (found.route == nullptr && found.allowed.empty()) return refused(request, {404, "there is no such page", "start at /"}, nullptr);
  if (found.route == nullptr)
    return refused(request, {405, "this address does not take the method", "ask with " + found.allowed.front()}, nullptr)
        .with("Allow", found.allowed.front());
  path = found.route->path;
  return routed_answer(*found.route, Ask{request, std::move(found.names), std::move(target->query)});
}

Response Site::routed_answer(const Route& route, Ask ask) {
  const Request& request = ask.request;
  try {
    bool wrong = false;
    const Caller caller = caller_of(request, parts_.options.gate, parts_.tokens, wrong);
    if (wrong) return refused(request, {kUnauthorized, "the token is not known", "nl-stage serve token ls"}, &route);
    if (const auto refusal = refuse_entry(request, parts_.options.gate, route.entry, caller)) return refused(request, *refusal, &route);
    if (const auto refusal = refuse_body(route, request)) return refused(request, *refusal, &route);
    if (caller.token) ask.who = caller.token->name;
    ask.may_write = caller.token && caller.token->role == Role::kWrite;
    return answer_of(route, std::move(ask));
  } catch (const Error& error) {
    const int status = status_of(error, request);
    return wants_page(request, &route) ? error_page(parts_, status, error) : error_response(status, error);
  } catch (const std::bad_alloc&) {
    return error_response(500, Error(ErrorKind::kInternal, "the memory is not enough for this answer"));
  } catch (const std::exception& broken) {
    return error_response(500, Error(ErrorKind::kInternal, broken.what(), "nl-stage serve", "this is a bug in nl-stage; please report it"));
  }
}

Response Site::answer_of(const Route& route, Ask ask) const {
  if (!is_api(route) && route.method == "POST") {
    auto form = parse_fields(ask.request.body);
    if (!form) return refused(ask.request, {400, "the form has a wrong escape", "use the form of the page"}, &route);
    ask.form = std::move(*form);
  }
  return route.answer(ask);
}

Response Site::refused(const Request& request, const Refusal& refusal, const Route* route) const {
  if (refusal.status == kUnauthorized && wants_page(request, route) && request.method == "GET") {
    Fields to;
    to.add("next", request.target);
    return redirect("/login" + query_text(to));
  }
  const Error error(ErrorKind::kUsage, refusal.what, "", refusal.fix);
  Response response = wants_page(request, route) ? error_page(parts_, refusal.status, error) : error_response(refusal.status, error);
  if (refusal.status == kUnauthorized) response.with("WWW-Authenticate", "Bearer realm=\"nl-stage\"");
  return response;
}

}  // namespace nl::servers::http
