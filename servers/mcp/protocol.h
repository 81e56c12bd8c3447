#pragma once

#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The words of the Model Context Protocol: its revisions, its messages (JSON-RPC 2.0) and its errors. docs/mcp.md
namespace nl::servers::mcp {

using nlohmann::json;
using nlohmann::ordered_json;

inline constexpr std::string_view kModernVersion = "2026-07-28";  // every request says who it is: no session
// Older revisions, of clients that begin with `initialize`. The newest first.
inline constexpr std::string_view kLegacyVersions[] = {"2025-11-25", "2025-06-18", "2025-03-26"};

inline constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
inline constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
inline constexpr const char* kServerInfoKey = "io.modelcontextprotocol/serverInfo";
inline constexpr const char* kTasksExtension = "io.modelcontextprotocol/tasks";

inline constexpr std::size_t kMostMessageBytes = 4 << 20;

enum {  // of errors, as JSON-RPC and the protocol have them
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kTooBusy = -32000,
  kResourceNotFound = -32002,  // of the older revisions; the newer one has kInvalidParams
  kHeaderMismatch = -32020,
  kMissingCapability = -32021,
  kUnsupportedVersion = -32022,
};

// Why a request has no result.
struct RpcError : std::exception {
  RpcError(int code, std::string message, ordered_json data = {}) : code(code), message(std::move(message)), data(std::move(data)) {}
  const char* what() const noexcept override { return message.c_str(); }

  int code;
  std::string message;
  ordered_json data;
};

ordered_json error_message(const json& id, const RpcError& error);  // id: null where it is not known
ordered_json result_message(const json& id, ordered_json result);
ordered_json notification(const char* method, ordered_json params);

// One line, without its end; bytes of a capture that are not UTF-8 are replaced.
std::string text_of(const ordered_json& message);

// A request or a notification, as far as it is well-formed.
struct Message {
  json id;  // null: a notification
  std::string method;
  json params = json::object();

  bool wants_reply() const { return !id.is_null(); }
  const json& meta() const;  // of the parameters; an empty object where there is none
  bool is_modern() const { return meta().contains(kVersionKey) || meta().contains(kCapabilitiesKey); }
};

json parsed(std::string_view text);  // throws RpcError: kParseError, kInvalidRequest where it is nested too deeply

// Throws RpcError: kInvalidRequest, kInvalidParams. None: it is the reply to a request, and this server sends none.
std::optional<Message> message_of(const json& value);

json id_of(const json& value);  // of a message that may be wrong; null where it has none

}  // namespace nl::servers::mcp
