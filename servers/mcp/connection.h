#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "servers/mcp/server.h"

namespace nl::servers::mcp {

// One client on a stream of messages: what it has asked for and not been answered, what it cancels, and how it goes away. Calls of tools and
// reading of resources run beside each other, each in a thread.
class Connection {
 public:
  using Send = std::function<void(const ordered_json& message)>;  // is called by one thread at a time

  Connection(Server& server, Access access, Send send) : server_(server), access_(access), send_(std::move(send)) {}
  ~Connection() { end(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void receive(std::string_view text);  // one message
  void refuse_too_long();               // a message that was not read, because it is longer than kMostMessageBytes
  // Waits so long for what is under way, then asks it to stop, and waits for that. Nothing is sent any more from then on.
  void end(std::chrono::milliseconds grace = {});

 private:
  struct Request {
    std::stop_source stop;
    bool cancelled = false;  // its reply is not wanted any more
  };

  void take(const Message& message);
  void begin(const Message& message);
  void serve(const Message& message, const Exchange& exchange);
  void cancel(const Message& message);
  void join_ended();
  void send(const ordered_json& message);
  void send_of(const std::string& key, const ordered_json& message);  // unless its request was cancelled

  Server& server_;
  const Access access_;
  const Send send_;
  std::string legacy_version_;  // of the thread that receives alone

  std::mutex mutex_;
  bool over_ = false;
  std::map<std::string, Request> in_flight_;  // by the id as JSON: 1 and "1" are two
  std::map<std::string, std::thread> threads_;
  std::list<std::thread> ended_;  // to be joined
  std::condition_variable none_left_;
};

}  // namespace nl::servers::mcp
