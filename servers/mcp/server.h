#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "servers/mcp/budget.h"
#include "servers/mcp/kept_answers.h"
#include "servers/mcp/protocol.h"
#include "servers/mcp/resources.h"
#include "servers/mcp/tasks.h"
#include "servers/tools.h"

namespace nl::servers::mcp {

// How one request is served.
struct Exchange {
  std::stop_token stop = {};
  std::function<void(const ordered_json& message)> notify = {};  // takes what is sent before the reply; may be empty
  Access access = Access::kRead;                                 // the highest that the caller may use
  std::string legacy_version = {};                               // of a client that began with `initialize`; empty: it did not
};

struct Reply {
  ordered_json message;
  bool refused = false;  // the request did not say who it is, or asked for a revision that is not spoken here
};

// The protocol, without a transport: what follows from a message. Both kinds of revision: those without a session, in which each request says
// its version and what its client can do, and the older ones that begin with `initialize`. Everything may be called by several threads.
class Server {
 public:
  struct Options {
    std::string version;  // of nl-stage
    std::size_t most_tokens = kDefaultTokens;
  };

  Server(Tools& tools, Resources& resources, Options options) : tools_(tools), resources_(resources), options_(std::move(options)) {}

  // Returns when the request is answered; none: the message was a notification.
  std::optional<Reply> handle(const Message& message, const Exchange& exchange);

  void end_tasks() { tasks_.end(); }

 private:
  struct Route;
  static const Route* route_of(const Message& message);
  static bool declares_tasks(const Message& message);
  static void check_envelope(const Message& message, const Exchange& exchange);

  ordered_json discover(const Message& message, const Exchange& exchange);
  ordered_json initialize(const Message& message, const Exchange& exchange);
  ordered_json ping(const Message& message, const Exchange& exchange);
  ordered_json list_tools(const Message& message, const Exchange& exchange);
  ordered_json call_tool(const Message& message, const Exchange& exchange);
  ordered_json list_resources(const Message& message, const Exchange& exchange);
  ordered_json list_templates(const Message& message, const Exchange& exchange);
  ordered_json read_resource(const Message& message, const Exchange& exchange);
  ordered_json get_task(const Message& message, const Exchange& exchange);
  ordered_json update_task(const Message& message, const Exchange& exchange);
  ordered_json cancel_task(const Message& message, const Exchange& exchange);

  const Tool& tool_named(const std::string& name) const;
  ordered_json called(const Tool& tool, const json& arguments, std::size_t most_tokens, const Call& call);
  ordered_json server_info() const;

  Tools& tools_;
  Resources& resources_;
  Options options_;
  KeptAnswers answers_;
  Tasks tasks_;
};

}  // namespace nl::servers::mcp
