#include "servers/mcp/http.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace nl::servers::mcp {
namespace {

constexpr std::string_view kBase64Begin = "=?base64?", kBase64End = "?=";
constexpr const char* kAbsent = "2025-03-26";  // what an older client speaks that sends no header

// The bytes of "SGVsbG8="; none where it is no base64.
std::optional<std::string> from_base64(std::string_view text) {
  static constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string out;
  unsigned bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<unsigned>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 0xFF);
  }
  return out;
}

std::string header_value(std::string_view header) {
  if (!header.starts_with(kBase64Begin) || !header.ends_with(kBase64End) || header.size() < kBase64Begin.size() + kBase64End.size())
    return std::string(header);
  header.remove_prefix(kBase64Begin.size());
  header.remove_suffix(kBase64End.size());
  return from_base64(header).value_or("");
}

// The parameter that the header Mcp-Name repeats; none: the method has no such.
const char* named_parameter(std::string_view method) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 6> names = {{{"tools/call", "name"},
                                                                                     {"prompts/get", "name"},
                                                                                     {"resources/read", "uri"},
                                                                                     {"tasks/get", "taskId"},
                                                                                     {"tasks/update", "taskId"},
                                                                                     {"tasks/cancel", "taskId"}}};
  const auto found = std::find_if(names.begin(), names.end(), [&](const auto& each) { return each.first == method; });
  return found == names.end() ? nullptr : found->second;
}

// A proxy that looks at the headers alone must see what is done.
void check_headers(const Message& message, const HttpRequest& request) {
  const json version = message.meta().value(kVersionKey, json());
  if (version.is_string() && version != request.protocol_version)
    throw RpcError(kHeaderMismatch, "the header MCP-Protocol-Version is not what _meta has");
  if (!version.is_string()) return;  // which the server refuses
  if (request.method != message.method) throw RpcError(kHeaderMismatch, "the header Mcp-Method is not the method");
  const char* parameter = named_parameter(message.method);
  if (parameter == nullptr) return;
  const json value = message.params.value(parameter, json());
  if (value.is_string() && value != header_value(request.name))
    throw RpcError(kHeaderMismatch, std::string("the header Mcp-Name is not params.") + parameter);
}

int status_of(const Reply& reply) {
  if (!reply.message.contains("error")) return 200;
  const int code = reply.message["error"]["code"].get<int>();
  if (code == kMethodNotFound) return 404;
  return reply.refused || code == kMissingCapability ? 400 : 200;
}

}  // namespace

HttpReply answer_post(Server& server, const HttpRequest& request, Exchange exchange) {
  if (request.body.size() > kMostMessageBytes)
    return {413, text_of(error_message({}, {kInvalidRequest, "the message is longer than 4 MB"}))};
  json id;
  try {
    const json value = parsed(request.body);
    id = id_of(value);
    const auto message = message_of(value);
    if (!message || !message->wants_reply()) return {202, {}};
    const bool modern = message->is_modern() || request.protocol_version == kModernVersion;
    if (modern) check_headers(*message, request);
    else exchange.legacy_version = request.protocol_version.empty() ? kAbsent : std::string(request.protocol_version);
    const auto reply = server.handle(*message, exchange);
    return {modern ? status_of(*reply) : 200, text_of(reply->message)};
  } catch (const RpcError& error) {
    return {400, text_of(error_message(id, error))};
  }
}

}  // namespace nl::servers::mcp
