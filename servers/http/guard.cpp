#include "servers/http/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace nl::servers::http {
namespace {

constexpr const char* kTokenFix =
    "make a token with `nl-stage serve token add NAME --role write`, and send it: Authorization: Bearer TOKEN";

bool changes(const Request& request) { return request.method != "GET" && request.method != "HEAD"; }

// "localhost:8080" → "localhost"; "[::1]:8080" → "::1"
std::string host_name(std::string_view host) {
  if (host.starts_with('[')) return std::string(host.substr(1, host.find(']') == std::string_view::npos ? 0 : host.find(']') - 1));
  return std::string(host.substr(0, host.rfind(':') == std::string_view::npos ? host.size() : host.rfind(':')));
}

bool is_local_name(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name == "localhost" || name.ends_with(".localhost") || is_loopback_address(name);
}

std::string origin_of(const Request& request, const std::string& host) { return (request.tls ? "https://" : "http://") + host; }

// Browsers say with every form and script where it comes from. A program that is no browser says nothing.
bool from_elsewhere(const Request& request, const std::string& host) {
  if (request.headers.contains("origin")) return request.header("origin") != origin_of(request, host);
  const auto site = request.header("sec-fetch-site");
  return request.headers.contains("sec-fetch-site") && site != "same-origin" && site != "none";
}

// "a=1; nl_stage=TOKEN" → TOKEN
std::string cookie_in(const Request& request, const std::string& name) {
  const auto found = request.headers.find("cookie");
  if (found == request.headers.end()) return {};
  for (std::string_view text : found->second)
    while (!text.empty()) {
      const std::string_view pair = text.substr(0, text.find(';'));
      text.remove_prefix(std::min(text.size(), pair.size() + 1));
      const std::string_view trimmed = pair.substr(std::min(pair.find_first_not_of(' '), pair.size()));
      if (trimmed.starts_with(name + "=")) return std::string(trimmed.substr(name.size() + 1));
    }
  return {};
}

std::string bearer_in(const Request& request) {
  constexpr std::string_view kScheme = "bearer ";
  std::string value = request.header("authorization").value_or("");
  if (value.size() <= kScheme.size()) return {};
  for (std::size_t i = 0; i < kScheme.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(value[i])) != kScheme[i]) return {};
  return value.substr(value.find_first_not_of(' ', kScheme.size() - 1));
}

}  // namespace

bool is_loopback_address(const std::string& address) {
  return address == "::1" || address == "localhost" ||
         (address.starts_with("127.") && address.find_first_not_of("0123456789.") == std::string::npos);
}

std::optional<Refusal> refuse_foreign(const Request& request, const Gate& gate) {
  const auto host = request.header("host");
  if (!host || host->empty()) return Refusal{400, "the request names no host, or several", "send one Host header"};
  if (gate.loopback && !is_local_name(host_name(*host)))
    return Refusal{421, "this server is for this machine, and the request names another host", "ask for http://localhost or 127.0.0.1"};
  if (changes(request) && from_elsewhere(request, *host))
    return Refusal{403, "the request comes from a page of another site", "send it from a page of this server, or without a browser"};
  return std::nullopt;
}

Caller caller_of(const Request& request, const Gate& gate, const Tokens& tokens, bool& wrong) {
  Caller caller;
  std::string token = bearer_in(request);
  const bool has_header = request.headers.contains("authorization");
  if (!has_header) {
    token = cookie_in(request, gate.cookie);
    caller.by_cookie = !token.empty();
  }
  if (!token.empty()) caller.token = tokens.owner_of(token);
  wrong = has_header && !caller.token;
  return caller;
}

std::optional<Refusal> refuse_entry(const Request& request, const Gate& gate, Entry entry, const Caller& caller) {
  if (entry == Entry::kOpen) return std::nullopt;
  const bool open = entry == Entry::kRead && gate.loopback && !gate.always_token;
  if (!caller.token && !open) return Refusal{401, entry == Entry::kWrite ? "a change needs a token" : "reading needs a token", kTokenFix};
  if (entry == Entry::kWrite && caller.token->role != Role::kWrite)
    return Refusal{403, fmt::format("the token '{}' may read only", caller.token->name), "use a token of role write"};
  // A cookie comes with every request of a browser, also where a page of another site has it sent.
  if (changes(request) && caller.by_cookie && !request.headers.contains("origin"))
    return Refusal{403, "the request does not say which page it comes from",
                   "send it from a page of this server, or with Authorization: Bearer"};
  return std::nullopt;
}

std::string cookie_header(const Gate& gate, const std::string& token, bool tls) {
  constexpr int kDays30 = 30 * 86400;
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}{}", gate.cookie, token, token.empty() ? 0 : kDays30,
                     tls ? "; Secure" : "");
}

}  // namespace nl::servers::http
