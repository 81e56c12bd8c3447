#pragma once

#include "servers/http/beast_listener.h"

// The body of the class: included once, by the one source that Meson takes (with TLS or without), so that Beast is compiled once.
namespace nl::servers::http {

namespace {

constexpr auto kAfterTrouble = std::chrono::milliseconds(50);  // no file descriptor is left: somebody may close one

asio::ip::address address_named(const std::string& name) {
  beast::error_code failure;
  const auto address = asio::ip::make_address(name == "localhost" ? "127.0.0.1" : name, failure);
  if (failure)
    throw Error(ErrorKind::kUsage, fmt::format("'{}' is no address", name), "--address",
                "take 127.0.0.1, ::1, 0.0.0.0 or an address of this machine");
  return address;
}

}  // namespace

inline BeastListener::BeastListener(const ListenOptions& options, Answers answers, Counters& counters)
    : options_(options), answers_(std::move(answers)), counters_(counters), quick_(options.quick_threads), slow_(options.slow_threads),
      acceptor_(context_) {
  const Tcp::endpoint place(address_named(options.address), options.port);
  try {
    acceptor_.open(place.protocol());
    acceptor_.set_option(asio::socket_base::reuse_address(true));
    acceptor_.bind(place);
    acceptor_.listen();
    port_ = acceptor_.local_endpoint().port();
  } catch (const boost::system::system_error& failure) {
    throw Error(ErrorKind::kOutput, fmt::format("cannot listen: {}", failure.code().message()),
                fmt::format("{}:{}", options.address, options.port), "take another port with --port; 0: one that is free");
  }
}

inline void BeastListener::run() {
  asio::co_spawn(context_, accept(), asio::detached);
  context_.run();
}

inline void BeastListener::stop() noexcept {
  stopping_ = true;
  {
    const std::lock_guard lock(stops_mutex_);
    for (std::stop_source& source : stops_) source.request_stop();
  }
  context_.stop();
  quick_.stop();
  slow_.stop();
}

inline asio::awaitable<void> BeastListener::accept() {
  while (!stopping_) {
    auto [error, socket] = co_await acceptor_.async_accept(kAwait);
    if (error) {
      asio::steady_timer pause(context_, kAfterTrouble);
      co_await pause.async_wait(kAwait);
      continue;
    }
    ++counters_.connections;
    beast::error_code ignored;
    socket.set_option(Tcp::no_delay(true), ignored);
    beast::tcp_stream stream(std::move(socket));
    if (counters_.open_connections >= options_.connections) {
      ++counters_.refused_connections;
      asio::co_spawn(context_, turn_away(std::move(stream)), asio::detached);
    } else {
      ++counters_.open_connections;
      asio::co_spawn(context_, serve_client(std::move(stream)), asio::detached);
    }
  }
}

inline asio::awaitable<void> BeastListener::serve_client(beast::tcp_stream stream) {
  struct Open {
    Counters& counters;
    ~Open() { --counters.open_connections; }
  } const open{counters_};
  beast::error_code gone;
  const auto from = stream.socket().remote_endpoint(gone);
  if (gone) co_return;
  std::string client = from.address().to_string();
  try {
    co_await welcome(std::move(stream), std::move(client));
  } catch (const std::exception&) {  // out of memory: this client alone is let go
  }
}

inline asio::awaitable<void> BeastListener::welcome(beast::tcp_stream stream, std::string client) {
  co_await converse(stream, std::move(client), false);
  beast::error_code ignored;
  stream.socket().shutdown(Tcp::socket::shutdown_send, ignored);
}

// The rest of what it sends is not waited for. Under TLS it hears nothing but the end.
inline asio::awaitable<void> BeastListener::turn_away(beast::tcp_stream stream) {
  if (!options_.certificate.empty()) co_return;
  Response response = short_answer(503, "too many connections");
  response.with("Retry-After", "1");
  stream.expires_after(std::chrono::seconds(1));
  Reply reply = reply_of(std::move(response), 11, false, false);
  co_await beast::http::async_write(stream, reply, kAwait);
}

// On a thread of a pool; here again when it is made.
inline asio::awaitable<Response> BeastListener::answer(Request request) {
  const bool slow = answers_.pace(request) == Pace::kSlow;
  if (slow && slow_open_ >= options_.slow_threads + options_.slow_waiting) {
    Response busy = short_answer(503, "too many long questions at once");
    busy.with("Retry-After", "5");
    co_return busy;
  }
  std::list<std::stop_source>::iterator place;
  {
    const std::lock_guard lock(stops_mutex_);
    place = stops_.emplace(stops_.end());
  }
  request.stop = place->get_token();
  asio::steady_timer deadline(context_, options_.answer_time);
  deadline.async_wait([source = *place](const beast::error_code& error) mutable {
    if (!error) source.request_stop();
  });
  if (slow) ++slow_open_;
  auto& pool = slow ? slow_ : quick_;
  auto work = [this, &request]() -> asio::awaitable<Response> { co_return answers_.answer(request); };
  auto [failure, response] = co_await asio::co_spawn(pool, std::move(work), kAwait);
  if (slow) --slow_open_;
  deadline.cancel();
  {
    const std::lock_guard lock(stops_mutex_);
    stops_.erase(place);
  }
  co_return std::move(response);
}

inline Request BeastListener::request_of(Parser& parser, const std::string& client, bool tls) {
  auto message = parser.release();
  Request request{std::string(message.method_string()), std::string(message.target())};
  for (const auto& field : message) {
    std::string name(field.name_string());
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    request.headers[name].emplace_back(field.value());
  }
  request.body = std::move(message.body());
  request.client = client;
  request.tls = tls;
  return request;
}

inline Reply reply_of(Response response, unsigned version, bool keep_alive, bool head) {
  Reply reply{static_cast<beast::http::status>(response.status), version};
  reply.set(beast::http::field::server, "nl-stage");
  reply.set(beast::http::field::content_type, response.type);
  for (const auto& [name, value] : response.headers) reply.insert(name, value);
  reply.keep_alive(keep_alive);
  reply.content_length(response.body.size());
  if (!head) reply.body() = std::move(response.body);
  return reply;
}

inline Response short_answer(int status, const char* words) {
  Response response{status, kText, std::string(words) + "\n"};
  response.with("X-Content-Type-Options", "nosniff");
  return response;
}

inline int status_of_parse_error(const beast::error_code& error) {
  using Problem = beast::http::error;
  if (error == Problem::header_limit) return 431;
  if (error == Problem::body_limit) return 413;
  if (error == Problem::end_of_stream || error == Problem::partial_message) return 0;
  return error.category() == make_error_code(Problem::bad_method).category() ? 400 : 0;
}

}  // namespace nl::servers::http
