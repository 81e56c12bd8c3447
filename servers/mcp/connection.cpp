#include "servers/mcp/connection.h"

#include <algorithm>
#include <array>

namespace nl::servers::mcp {
namespace {

constexpr std::size_t kMostInFlight = 32;

// The others are answered at once, in their order.
bool takes_time(const std::string& method) {
  static constexpr std::array<std::string_view, 3> methods = {"tools/call", "resources/list", "resources/read"};
  return std::find(methods.begin(), methods.end(), method) != methods.end();
}

}  // namespace

void Connection::receive(std::string_view text) {
  join_ended();
  json id;
  try {
    const json value = parsed(text);
    id = id_of(value);
    if (const auto message = message_of(value)) take(*message);
  } catch (const RpcError& error) {
    send(error_message(id, error));
  }
}

void Connection::refuse_too_long() { send(error_message({}, {kInvalidRequest, "the message is longer than 4 MB"})); }

void Connection::take(const Message& message) {
  if (!message.wants_reply()) {
    if (message.method == "notifications/cancelled") cancel(message);
    return;  // of all other notifications nothing follows
  }
  if (takes_time(message.method)) return begin(message);
  const auto reply = server_.handle(message, {.access = access_, .legacy_version = legacy_version_});
  if (message.method == "initialize" && reply->message.contains("result"))
    legacy_version_ = reply->message["result"]["protocolVersion"].get<std::string>();
  send(reply->message);
}

void Connection::begin(const Message& message) {
  const std::string key = message.id.dump();
  const std::unique_lock lock(mutex_);
  // The error has no id: with this one the client would take it for the answer to its first request.
  if (in_flight_.contains(key)) {
    const RpcError twice(kInvalidRequest, "a request with the id " + key.substr(0, 100) + " is under way");
    if (!over_) send_(error_message({}, twice));
    return;
  }
  if (over_) return;
  if (in_flight_.size() >= kMostInFlight) {
    send_(error_message(message.id, {kTooBusy, "too many requests are under way; wait until one is answered"}));
    return;
  }
  const Exchange exchange{in_flight_[key].stop.get_token(), [this, key](const ordered_json& told) { send_of(key, told); }, access_,
                          legacy_version_};
  threads_[key] = std::thread([this, message, exchange] { serve(message, exchange); });
}

void Connection::serve(const Message& message, const Exchange& exchange) {
  const std::string key = message.id.dump();
  const auto reply = server_.handle(message, exchange);
  send_of(key, reply->message);
  const std::lock_guard lock(mutex_);
  in_flight_.erase(key);
  ended_.push_back(std::move(threads_[key]));
  threads_.erase(key);
  none_left_.notify_all();
}

// Of a request that is not known, or answered already, nothing follows.
void Connection::cancel(const Message& message) {
  const auto id = message.params.find("requestId");
  if (id == message.params.end()) return;
  const std::lock_guard lock(mutex_);
  const auto found = in_flight_.find(id->dump(-1, ' ', false, json::error_handler_t::replace));
  if (found == in_flight_.end()) return;
  found->second.cancelled = true;
  found->second.stop.request_stop();
}

void Connection::join_ended() {
  std::list<std::thread> ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(ended_);
  }
  for (std::thread& thread : ended) thread.join();
}

void Connection::send(const ordered_json& message) {
  const std::lock_guard lock(mutex_);
  if (!over_) send_(message);
}

void Connection::send_of(const std::string& key, const ordered_json& message) {
  const std::lock_guard lock(mutex_);
  const auto found = in_flight_.find(key);
  if (!over_ && found != in_flight_.end() && !found->second.cancelled) send_(message);
}

void Connection::end(std::chrono::milliseconds grace) {
  {
    std::unique_lock lock(mutex_);
    none_left_.wait_for(lock, grace, [this] { return threads_.empty(); });
    over_ = true;
    for (auto& [key, request] : in_flight_) request.stop.request_stop();
    none_left_.wait(lock, [this] { return threads_.empty(); });
  }
  join_ended();
}

}  // namespace nl::servers::mcp
