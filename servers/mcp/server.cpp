#include "servers/mcp/server.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "model/error.h"

namespace nl::servers::mcp {
namespace {

constexpr const char* kInstructions =
    "nl-stage says where the time of LLM inference and training goes on GPUs, from captures. Begin with `ledger_search` for the runs that "
    "are "
    "known, or with `summary` on a run, a bundle or a capture; `query` answers what it leaves open, in SQL; `whatif` predicts what a "
    "change "
    "would bring; `compare` says whether two runs differ; `explain` says what a word or a rule means. Numbers have their unit in the name "
    "(_ns, _ms, _share of 1). \"not captured\" or null is not zero. A finding names its evidence by a JSON pointer into run.json: read it "
    "as "
    "nl-stage://run/RUN/run.json#POINTER. An answer that is too long begins with \"cut\", which says what was left out and where the whole "
    "is; "
    "max_tokens of each tool asks for more.";

constexpr int kListTtlMs = 300'000;  // tools change with the program alone
constexpr int kRunsTtlMs = 5'000;    // runs come and go
constexpr std::size_t kPageOfResources = 50;
constexpr const char* kMaxTokens = "max_tokens";

const char* const kNoCapability = "the client does not declare the extension io.modelcontextprotocol/tasks";

ordered_json cacheable(ordered_json result, int ttl_ms) {
  result["ttlMs"] = ttl_ms;
  result["cacheScope"] = "private";  // what may be called, and what is in the ledger, is the caller's
  return result;
}

std::string text_parameter(const Message& message, const char* name) {
  const auto found = message.params.find(name);
  if (found == message.params.end() || !found->is_string())
    throw RpcError(kInvalidParams, std::string(name) + " is missing, or is no text");
  return found->get<std::string>();
}

// The number of the first element of a page; the client gives back what it was given.
std::size_t cursor_of(const Message& message) {
  if (!message.params.contains("cursor")) return 0;
  const std::string text = text_parameter(message, "cursor");
  std::size_t from = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), from);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || from > 1'000'000)
    throw RpcError(kInvalidParams, "the cursor is not one of this server's");
  return from;
}

// What comes at the same place in every list of them.
ordered_json tool_json(const Tool& tool, std::size_t most_tokens) {
  ordered_json schema = tool.input_schema;
  schema["properties"][kMaxTokens] = {
      {"type", "integer"},
      {"description", "the length of the answer at most, in tokens of four bytes; what is left out is named"},
      {"minimum", kLeastTokens},
      {"maximum", kMostTokens},
      {"default", most_tokens}};
  const bool reads = tool.access == Access::kRead;
  return {{"name", tool.name},
          {"title", tool.title},
          {"description", tool.description},
          {"inputSchema", std::move(schema)},
          {"annotations", {{"readOnlyHint", reads}, {"destructiveHint", false}, {"idempotentHint", reads}, {"openWorldHint", false}}}};
}

// Takes max_tokens out of the arguments: it is not the verb's.
std::size_t take_max_tokens(json& arguments, std::size_t otherwise) {
  const auto found = arguments.find(kMaxTokens);
  if (found == arguments.end()) return otherwise;
  if (!found->is_number_integer() || *found < kLeastTokens || *found > kMostTokens)
    throw RpcError(kInvalidParams, "max_tokens is a whole number from 200 to 200000");
  const auto tokens = found->get<std::size_t>();
  arguments.erase(found);
  return tokens;
}

// Calls `notify` with a notification for each sentence; nothing where the client did not ask for progress.
std::function<void(std::string_view)> progress_of(const Message& message, const Exchange& exchange) {
  const auto token = message.meta().find("progressToken");
  if (!exchange.notify || token == message.meta().end() || !(token->is_string() || token->is_number_integer())) return {};
  ordered_json name = token->is_string() ? ordered_json(token->get<std::string>()) : ordered_json(token->get<std::int64_t>());
  return [notify = exchange.notify, name = std::move(name), step = 0](std::string_view what) mutable {
    notify(notification("notifications/progress", {{"progressToken", name}, {"progress", ++step}, {"message", what}}));
  };
}

ordered_json error_text(const Error& error) { return {{"error", {{"what", error.message}, {"where", error.where}, {"fix", error.fix}}}}; }

ordered_json resource_link(const std::string& uri, const char* name, const char* mime_type) {
  return {{"type", "resource_link"}, {"uri", uri}, {"name", name}, {"mimeType", mime_type}};
}

}  // namespace

struct Server::Route {
  std::string_view method;
  bool modern, legacy;
  ordered_json (Server::*answer)(const Message&, const Exchange&);
};

const Server::Route* Server::route_of(const Message& message) {
  static constexpr auto routes = std::to_array<Route>({{"server/discover", true, false, &Server::discover},
                                                       {"initialize", false, true, &Server::initialize},
                                                       {"ping", false, true, &Server::ping},
                                                       {"tools/list", true, true, &Server::list_tools},
                                                       {"tools/call", true, true, &Server::call_tool},
                                                       {"resources/list", true, true, &Server::list_resources},
                                                       {"resources/templates/list", true, true, &Server::list_templates},
                                                       {"resources/read", true, true, &Server::read_resource},
                                                       {"tasks/get", true, false, &Server::get_task},
                                                       {"tasks/update", true, false, &Server::update_task},
                                                       {"tasks/cancel", true, false, &Server::cancel_task}});
  const auto found = std::find_if(routes.begin(), routes.end(), [&](const Route& route) {
    return route.method == message.method && (message.is_modern() ? route.modern : route.legacy || route.method == "server/discover");
  });
  return found == routes.end() ? nullptr : &*found;
}

// Throws where the request does not say by which revision it is to be understood.
void Server::check_envelope(const Message& message, const Exchange& exchange) {
  const json& meta = message.meta();
  const bool needs_none = message.method == "initialize" || message.method == "ping" || !exchange.legacy_version.empty();
  if (!message.is_modern() && needs_none && message.method != "server/discover") return;
  const auto version = meta.find(kVersionKey);
  if (version == meta.end() || !version->is_string())
    throw RpcError(kInvalidParams, std::string("_meta has no ") + kVersionKey + "; a client of an older revision begins with initialize");
  if (*version != kModernVersion)
    throw RpcError(kUnsupportedVersion, "this revision is not spoken here",
                   {{"supported", ordered_json::array({kModernVersion})}, {"requested", version->get<std::string>()}});
  const auto capabilities = meta.find(kCapabilitiesKey);
  if (capabilities == meta.end() || !capabilities->is_object())
    throw RpcError(kInvalidParams, std::string("_meta has no ") + kCapabilitiesKey);
}

bool Server::declares_tasks(const Message& message) {
  const json& meta = message.meta();
  return message.is_modern() && meta.contains(json::json_pointer("/io.modelcontextprotocol~1clientCapabilities/extensions")) &&
         meta[kCapabilitiesKey]["extensions"].is_object() && meta[kCapabilitiesKey]["extensions"].contains(kTasksExtension);
}

std::optional<Reply> Server::handle(const Message& message, const Exchange& exchange) {
  if (!message.wants_reply()) return std::nullopt;
  try {
    check_envelope(message, exchange);
  } catch (const RpcError& error) {
    return Reply{error_message(message.id, error), true};
  }
  try {
    const Route* route = route_of(message);
    if (route == nullptr) throw RpcError(kMethodNotFound, "there is no method " + message.method.substr(0, 100));
    ordered_json result = (this->*route->answer)(message, exchange);
    if (message.is_modern()) {
      if (!result.contains("resultType")) result["resultType"] = "complete";
      result["_meta"][kServerInfoKey] = server_info();
    }
    return Reply{result_message(message.id, std::move(result))};
  } catch (const RpcError& error) {
    return Reply{error_message(message.id, error)};
  } catch (const Error& error) {
    return Reply{error_message(message.id, {kInternalError, error.message, error_text(error)["error"]})};
  } catch (const std::exception& broken) {
    return Reply{error_message(message.id, {kInternalError, broken.what()})};
  }
}

ordered_json Server::server_info() const { return {{"name", "nl-stage"}, {"version", options_.version}}; }

ordered_json Server::discover(const Message&, const Exchange&) {
  ordered_json capabilities = {{"tools", ordered_json::object()}, {"resources", ordered_json::object()}};
  capabilities["extensions"][kTasksExtension] = ordered_json::object();
  return cacheable({{"supportedVersions", ordered_json::array({kModernVersion})},
                    {"capabilities", std::move(capabilities)},
                    {"instructions", kInstructions}},
                   kListTtlMs);
}

// The version that the client asks for where it is spoken here, else the newest of those that begin so.
ordered_json Server::initialize(const Message& message, const Exchange&) {
  const std::string asked = text_parameter(message, "protocolVersion");
  const bool known = std::find(std::begin(kLegacyVersions), std::end(kLegacyVersions), asked) != std::end(kLegacyVersions);
  return {{"protocolVersion", known ? asked : std::string(kLegacyVersions[0])},
          {"capabilities", {{"tools", ordered_json::object()}, {"resources", ordered_json::object()}}},
          {"serverInfo", server_info()},
          {"instructions", kInstructions}};
}

ordered_json Server::ping(const Message&, const Exchange&) { return ordered_json::object(); }

ordered_json Server::list_tools(const Message& message, const Exchange& exchange) {
  if (cursor_of(message) != 0) throw RpcError(kInvalidParams, "the tools are one page");
  ordered_json tools = ordered_json::array();
  for (const Tool& tool : tools_.all())
    if (tool.access <= exchange.access) tools.push_back(tool_json(tool, options_.most_tokens));
  return cacheable({{"tools", std::move(tools)}}, kListTtlMs);
}

const Tool& Server::tool_named(const std::string& name) const {
  const auto found = std::find_if(tools_.all().begin(), tools_.all().end(), [&](const Tool& tool) { return tool.name == name; });
  if (found == tools_.all().end()) throw RpcError(kInvalidParams, "there is no tool " + name.substr(0, 100));
  return *found;
}

ordered_json Server::call_tool(const Message& message, const Exchange& exchange) {
  const Tool& tool = tool_named(text_parameter(message, "name"));
  json arguments = message.params.value("arguments", json::object());
  if (!arguments.is_object()) throw RpcError(kInvalidParams, "arguments is an object");
  if (tool.access > exchange.access)
    throw RpcError(kInvalidParams, tool.name + " is not let through: the server is started without " +
                                       (tool.access == Access::kRun ? "--allow-run" : "--allow-write"));
  const std::size_t most_tokens = take_max_tokens(arguments, options_.most_tokens);
  if (tool.lasts && declares_tasks(message)) {
    ordered_json state = tasks_.start([this, &tool, arguments, most_tokens](std::stop_token stop, const auto& tell) {
      ordered_json result = called(tool, arguments, most_tokens, {stop, tell});
      result["resultType"] = "complete";
      return result;
    });
    state["resultType"] = "task";
    return state;
  }
  return called(tool, arguments, most_tokens, {exchange.stop, progress_of(message, exchange)});
}

// The same JSON as text, for clients that show the model nothing else.
ordered_json Server::called(const Tool& tool, const json& arguments, std::size_t most_tokens, const Call& call) {
  Answer answer;
  try {
    answer = tools_.call(tool.name, arguments, call);
  } catch (const Error& error) {
    answer.content = error_text(error);
  }
  ordered_json links = ordered_json::array();
  if (answer.content.contains("run_id") && answer.content["run_id"].is_string() &&
      answer.content.value("ledger", ordered_json()).is_string()) {
    const std::string run = std::string(kScheme) + "run/" + answer.content["run_id"].get<std::string>();
    links.push_back(resource_link(run + "/report.md", "report.md", "text/markdown"));
    links.push_back(resource_link(run + "/run.json", "run.json", "application/json"));
  }
  std::string text = text_of(answer.content);
  if (tokens_of(text.size()) > most_tokens) {
    const std::size_t whole_tokens = tokens_of(text.size());
    const std::string uri = answers_.keep(std::move(text));
    answer.content = with_note(shortened(answer.content, most_tokens * kBytesPerToken), whole_tokens, uri);
    links.push_back(resource_link(uri, "the whole answer", "application/json"));
    text = text_of(answer.content);
  }
  const bool failed = answer.content.is_object() && answer.content.contains("error");
  ordered_json content = ordered_json::array();
  content.push_back({{"type", "text"}, {"text", std::move(text)}});
  for (ordered_json& link : links) content.push_back(std::move(link));
  return {{"content", std::move(content)},
          {"structuredContent", std::move(answer.content)},
          {"isError", failed},
          {"_meta", {{"nl-stage/exit_status", answer.exit_status}}}};
}

ordered_json Server::list_resources(const Message& message, const Exchange&) {
  const std::size_t from = cursor_of(message);
  std::vector<Resource> page = resources_.list(from, kPageOfResources + 1);
  ordered_json result = {{"resources", ordered_json::array()}};
  if (page.size() > kPageOfResources) {
    page.resize(kPageOfResources);
    result["nextCursor"] = std::to_string(from + kPageOfResources);
  }
  for (const Resource& each : page)
    result["resources"].push_back({{"uri", each.uri}, {"name", each.name}, {"title", each.title}, {"mimeType", each.mime_type}});
  return cacheable(std::move(result), kRunsTtlMs);
}

ordered_json Server::list_templates(const Message& message, const Exchange&) {
  if (cursor_of(message) != 0) throw RpcError(kInvalidParams, "the templates are one page");
  ordered_json list = ordered_json::array();
  for (const ResourceTemplate& each : resources_.templates())
    list.push_back(
        {{"uriTemplate", each.uri_template}, {"name", each.name}, {"description", each.description}, {"mimeType", each.mime_type}});
  return cacheable({{"resourceTemplates", std::move(list)}}, kListTtlMs);
}

ordered_json Server::read_resource(const Message& message, const Exchange&) {
  const std::string uri = text_parameter(message, "uri");
  std::optional<ResourceText> found;
  ordered_json why = {{"uri", uri.substr(0, 1000)}};
  if (const auto answer = answers_.read(uri)) found = ResourceText{"application/json", *answer};
  else try {
      found = resources_.read(uri);
    } catch (const Error& error) {
      why.update(error_text(error));
    }
  if (!found) throw RpcError(message.is_modern() ? kInvalidParams : kResourceNotFound, "there is no such resource", why);
  ordered_json content = {{"uri", uri}, {"mimeType", found->mime_type}, {"text", std::move(found->text)}};
  return cacheable({{"contents", ordered_json::array({std::move(content)})}}, kRunsTtlMs);
}

ordered_json Server::get_task(const Message& message, const Exchange&) {
  if (!declares_tasks(message))
    throw RpcError(kMissingCapability, kNoCapability,
                   {{"requiredCapabilities", {{"extensions", {{kTasksExtension, ordered_json::object()}}}}}});
  return tasks_.get(text_parameter(message, "taskId"));
}

// No task of this server asks for anything while it works.
ordered_json Server::update_task(const Message& message, const Exchange& exchange) {
  get_task(message, exchange);
  return ordered_json::object();
}

ordered_json Server::cancel_task(const Message& message, const Exchange& exchange) {
  get_task(message, exchange);
  tasks_.cancel(text_parameter(message, "taskId"));
  return ordered_json::object();
}

}  // namespace nl::servers::mcp
