#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "servers/http/counters.h"
#include "servers/http/message.h"
#include "servers/http/routes.h"

// Sockets and HTTP, by Boost.Beast. Its sources alone include Beast: they take as long to compile as all others of the room.
namespace nl::servers::http {

struct ListenOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;                  // 0: one that is free
  std::string certificate = {}, key = {};  // PEM files; empty: no TLS
  std::size_t connections = 256;           // at once; one more is answered with 503
  std::size_t header_bytes = 16 << 10, body_bytes = 1 << 20;
  std::chrono::seconds header_time{10}, body_time{30}, answer_time{60};  // answer_time: of what is slow; then it is asked to stop
  std::size_t quick_threads = 8, slow_threads = 4, slow_waiting = 32;
};

// What is listened for. Both are called by several threads.
struct Answers {
  std::function<Response(const Request&)> answer;
  std::function<Pace(const Request&)> pace;
};

class Listener {
 public:
  virtual ~Listener() = default;
  virtual std::uint16_t port() const = 0;
  virtual void run() = 0;            // until stop()
  virtual void stop() noexcept = 0;  // from any thread: open connections are closed, answers that are being made are asked to stop
};

// Throws Error: kUsage for an address or a certificate that is none, kOutput where the port is taken or not allowed, kTool where TLS is asked for and
// this nl-stage was built without.
std::unique_ptr<Listener> listen(const ListenOptions& options, Answers answers, Counters& counters);

}  // namespace nl::servers::http
