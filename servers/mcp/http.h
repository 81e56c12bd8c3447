#pragma once

#include <string>
#include <string_view>

#include "servers/mcp/server.h"

namespace nl::servers::mcp {

// MCP over HTTP without its transport: what a POST to the one address is answered. GET and DELETE there are 405; who may call, from where, and how
// fast, is the transport's to say before.
struct HttpRequest {
  std::string_view body;
  std::string_view protocol_version, method, name;  // the headers MCP-Protocol-Version, Mcp-Method, Mcp-Name; empty: absent
};

struct HttpReply {
  int status = 200;
  std::string body;  // application/json; empty: nothing is to be said
};

// Returns when the request is answered. `exchange.stop` is asked for when the client goes away; with `exchange.notify` the reply may be a stream of
// events: each notification one, and the body the last.
HttpReply answer_post(Server& server, const HttpRequest& request, Exchange exchange);

}  // namespace nl::servers::mcp
