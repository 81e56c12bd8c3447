#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/basic_stream.hpp>

#include <string>

#include "load/answer_reader.h"
#include "load/target.h"

// One request over one connection, which ends with it.
namespace nl::load {

namespace asio = boost::asio;

// Every operation gives its error beside its value: a server that goes away is nothing exceptional.
inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

Ns now_ns();  // CLOCK_MONOTONIC

// Bytes of a response go in as they come; its head and its body go on to the reader.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual void head(int status, std::string_view content_type) = 0;
  virtual void take(std::string_view bytes, Ns at_ns) = 0;
  virtual void end(bool announced, Ns at_ns) = 0;
  virtual void fail(RequestOutcome outcome, std::string error, Ns at_ns) = 0;
  virtual bool is_over() const = 0;
};

struct WireTimes {
  Ns connected_ns = 0, first_byte_ns = 0;  // 0: it did not come so far
};

class Wire {
 public:
  Wire(asio::io_context& context, const Target& target) : stream_(context), target_(target) {}

  // Sends the message and passes on what comes back, until the receiver wants no more, it has ended, or the deadline.
  asio::awaitable<void> exchange(std::string message, Receiver& receiver, Ns deadline_ns, WireTimes& times);

  void interrupt();  // ends the exchange, which then says so

 private:
  using Stream = boost::beast::basic_stream<asio::generic::stream_protocol>;

  asio::awaitable<void> receive(Receiver& receiver, WireTimes& times);
  void report(const boost::system::error_code& failure, RequestOutcome otherwise, Receiver& receiver) const;

  Stream stream_;
  const Target& target_;
  bool interrupted_ = false;
};

}  // namespace nl::load
