#pragma once

#include <optional>
#include <string>

#include "servers/http/routes.h"
#include "servers/http/tokens.h"

// Who asks, and whether the request comes from where it should.
namespace nl::servers::http {

// How a refusal is answered.
struct Refusal {
  int status = 403;
  std::string what, fix;
};

struct Gate {
  bool loopback = true;  // the server listens to this machine alone: reading needs no token
  bool always_token = false;
  std::string cookie = "nl_stage";  // its name: cookies know no ports, and two servers on one machine must not share one
};

// Where pages of other places are kept out: a name of another machine that resolves to this one (DNS rebinding), and forms or scripts of other
// origins. Looked at before anything else.
std::optional<Refusal> refuse_foreign(const Request& request, const Gate& gate);

struct Caller {
  std::optional<Token> token;
  bool by_cookie = false;
};
// Throws nothing for a wrong token: `wrong` says so.
Caller caller_of(const Request& request, const Gate& gate, const Tokens& tokens, bool& wrong);

std::optional<Refusal> refuse_entry(const Request& request, const Gate& gate, Entry entry, const Caller& caller);

// Set-Cookie, which scripts cannot read and other sites' pages do not send. An empty token ends it.
std::string cookie_header(const Gate& gate, const std::string& token, bool tls);

bool is_loopback_address(const std::string& address);

}  // namespace nl::servers::http
