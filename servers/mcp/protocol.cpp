#include "servers/mcp/protocol.h"

#include "model/input_bounds.h"

namespace nl::servers::mcp {
namespace {

constexpr InputBounds kMessageBounds{64, 500'000};

bool is_id(const json& value) { return value.is_string() || value.is_number_integer(); }

ordered_json ordered(const json& id) { return id.is_string() ? ordered_json(id.get<std::string>()) : ordered_json(id.get<std::int64_t>()); }

}  // namespace

ordered_json error_message(const json& id, const RpcError& error) {
  ordered_json body = {{"code", error.code}, {"message", error.message}};
  if (!error.data.is_null()) body["data"] = error.data;
  return {{"jsonrpc", "2.0"}, {"id", is_id(id) ? ordered(id) : ordered_json()}, {"error", std::move(body)}};
}

ordered_json result_message(const json& id, ordered_json result) {
  return {{"jsonrpc", "2.0"}, {"id", ordered(id)}, {"result", std::move(result)}};
}

ordered_json notification(const char* method, ordered_json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

std::string text_of(const ordered_json& message) { return message.dump(-1, ' ', false, ordered_json::error_handler_t::replace); }

const json& Message::meta() const {
  static const json none = json::object();
  const auto found = params.find("_meta");
  return found != params.end() && found->is_object() ? *found : none;
}

json id_of(const json& value) {
  if (!value.is_object()) return {};
  const auto found = value.find("id");
  return found != value.end() && is_id(*found) ? *found : json();
}

json parsed(std::string_view text) {
  json value;
  try {
    value = json::parse(json_within_bounds(text, "message", kMessageBounds), nullptr, false);
  } catch (const Error& error) {
    throw RpcError(kInvalidRequest, error.message);
  }
  if (value.is_discarded()) throw RpcError(kParseError, "this is not JSON");
  return value;
}

std::optional<Message> message_of(const json& value) {
  if (value.is_array()) throw RpcError(kInvalidRequest, "send one message at a time: batches are not part of the protocol");
  if (!value.is_object()) throw RpcError(kInvalidRequest, "a message is an object");
  if (value.value("jsonrpc", json()) != "2.0") throw RpcError(kInvalidRequest, "a message has \"jsonrpc\": \"2.0\"");
  const bool replies = value.contains("result") || value.contains("error");
  if (replies && !value.contains("method")) return std::nullopt;
  const auto method = value.find("method");
  if (method == value.end() || !method->is_string()) throw RpcError(kInvalidRequest, "a request names its method");
  Message message;
  message.method = method->get<std::string>();
  if (const auto id = value.find("id"); id != value.end()) {
    if (!is_id(*id)) throw RpcError(kInvalidRequest, "the id of a request is a text or a whole number");
    message.id = *id;
  }
  if (const auto params = value.find("params"); params != value.end()) {
    if (!params->is_object()) throw RpcError(kInvalidParams, "params is an object");
    message.params = *params;
  }
  return message;
}

}  // namespace nl::servers::mcp
