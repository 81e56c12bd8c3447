#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <list>
#include <mutex>
#include <stop_token>

#include "servers/http/listener.h"

// Private to the sources of the listener: what they share is a template over the stream, plain or TLS.
namespace nl::servers::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using Tcp = asio::ip::tcp;

// Every operation gives its error beside its value: a client that goes away is nothing exceptional.
inline constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

using Parser = beast::http::request_parser<beast::http::string_body>;
using Reply = beast::http::response<beast::http::string_body>;

class BeastListener : public Listener {
 public:
  BeastListener(const ListenOptions& options, Answers answers, Counters& counters);
  std::uint16_t port() const override { return port_; }
  void run() override;
  void stop() noexcept override;

 protected:
  // Talks to one client until it or we end.
  virtual asio::awaitable<void> welcome(beast::tcp_stream stream, std::string client);

  template <class Stream>
  asio::awaitable<void> converse(Stream& stream, std::string client, bool tls);

  ListenOptions options_;

 private:
  asio::awaitable<void> accept();
  asio::awaitable<void> serve_client(beast::tcp_stream stream);
  asio::awaitable<void> turn_away(beast::tcp_stream stream);
  asio::awaitable<Response> answer(Request request);
  template <class Stream>
  asio::awaitable<bool> read_request(Stream& stream, beast::flat_buffer& buffer, Parser& parser);
  template <class Stream>
  asio::awaitable<bool> write_reply(Stream& stream, Reply reply);
  static Request request_of(Parser& parser, const std::string& client, bool tls);

  Answers answers_;
  Counters& counters_;
  asio::io_context context_{1};
  asio::thread_pool quick_, slow_;
  std::atomic<std::size_t> slow_open_{0};
  Tcp::acceptor acceptor_;
  std::uint16_t port_ = 0;
  std::mutex stops_mutex_;
  std::list<std::stop_source> stops_;  // of the answers that are being made
  std::atomic<bool> stopping_{false};
};

Reply reply_of(Response response, unsigned version, bool keep_alive, bool head);
Response short_answer(int status, const char* words);
int status_of_parse_error(const beast::error_code& error);  // 0: the client is gone

inline beast::tcp_stream& socket_below(beast::tcp_stream& stream) { return stream; }
template <class Stream>
beast::tcp_stream& socket_below(Stream& stream) {
  return beast::get_lowest_layer(stream);
}

template <class Stream>
asio::awaitable<bool> BeastListener::read_request(Stream& stream, beast::flat_buffer& buffer, Parser& parser) {
  parser.header_limit(static_cast<std::uint32_t>(options_.header_bytes));
  parser.body_limit(options_.body_bytes);
  socket_below(stream).expires_after(options_.header_time);
  auto [header_error, header_read] = co_await beast::http::async_read_header(stream, buffer, parser, kAwait);
  beast::error_code error = header_error;
  if (!error && !parser.is_done()) {
    socket_below(stream).expires_after(options_.body_time);
    if (beast::iequals(parser.get()[beast::http::field::expect], "100-continue")) {
      beast::http::response<beast::http::empty_body> go_on{beast::http::status::continue_, parser.get().version()};
      auto [write_error, written] = co_await beast::http::async_write(stream, go_on, kAwait);
      if (write_error) co_return false;
    }
    auto [body_error, body_read] = co_await beast::http::async_read(stream, buffer, parser, kAwait);
    error = body_error;
  }
  if (!error) co_return true;
  if (error == beast::error::timeout) ++counters_.timed_out;
  if (const int status = status_of_parse_error(error); status != 0) {
    Reply reply = reply_of(short_answer(status, "this request cannot be read"), 11, false, false);
    co_await write_reply(stream, std::move(reply));
  }
  co_return false;
}

// Slow readers have half a minute, and a second more for every 20 kB.
template <class Stream>
asio::awaitable<bool> BeastListener::write_reply(Stream& stream, Reply reply) {
  socket_below(stream).expires_after(options_.body_time + std::chrono::seconds(reply.body().size() / 20'000));
  const bool keep_alive = reply.keep_alive();
  auto [error, written] = co_await beast::http::async_write(stream, reply, kAwait);
  if (error == beast::error::timeout) ++counters_.timed_out;
  co_return !error && keep_alive;
}

template <class Stream>
asio::awaitable<void> BeastListener::converse(Stream& stream, std::string client, bool tls) {
  beast::flat_buffer buffer;
  bool more = true;
  while (more && !stopping_) {
    Parser parser;
    const bool whole = co_await read_request(stream, buffer, parser);
    if (!whole) break;
    const unsigned version = parser.get().version();
    const bool keep_alive = parser.get().keep_alive();
    Request request = request_of(parser, client, tls);
    const bool head = request.method == "HEAD";
    socket_below(stream).expires_never();  // while we work
    Response response = co_await answer(std::move(request));
    Reply reply = reply_of(std::move(response), version, keep_alive, head);
    more = co_await write_reply(stream, std::move(reply));
  }
}

}  // namespace nl::servers::http
