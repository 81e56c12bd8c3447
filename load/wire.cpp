#include "load/wire.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <array>
#include <chrono>
#include <cstdint>

namespace nl::load {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using beast::error_code;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kReadBytes = 16 << 10;
constexpr std::uint32_t kMostHeadBytes = 64 << 10;
constexpr auto kGrace = std::chrono::seconds(1);  // for the last bytes of an answer whose [DONE] has come

// Beast finds the head, the chunks and the end of a response; what is in it goes to the receiver.
class ResponseParser : public http::basic_parser<false> {
 public:
  explicit ResponseParser(Receiver& receiver) : receiver_(receiver) {
    eager(true);
    header_limit(kMostHeadBytes);
    body_limit(boost::none);  // the receiver has its own
  }

  Ns at_ns = 0;  // when the bytes came that are being parsed

 private:
  using Text = beast::string_view;
  static std::string_view plain(Text text) { return {text.data(), text.size()}; }

  void on_request_impl(http::verb, Text, Text, int, error_code&) override {}
  void on_response_impl(int status, Text, int, error_code&) override { status_ = status; }
  void on_field_impl(http::field name, Text, Text value, error_code&) override {
    if (name == http::field::content_type) content_type_ = plain(value);
  }
  void on_header_impl(error_code&) override { receiver_.head(status_, content_type_); }
  void on_body_init_impl(boost::optional<std::uint64_t> const&, error_code&) override {}
  std::size_t on_body_impl(Text body, error_code&) override {
    receiver_.take(plain(body), at_ns);
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, error_code&) override {
    receiver_.take(plain(body), at_ns);
    return body.size();
  }
  void on_finish_impl(error_code&) override {}

  Receiver& receiver_;
  int status_ = 0;
  std::string content_type_;
};

asio::generic::stream_protocol::endpoint endpoint_of(const Target& target) {
  if (!target.socket.empty()) return asio::local::stream_protocol::endpoint(target.socket);
  return asio::ip::tcp::endpoint(asio::ip::make_address(target.address), target.port);
}

// Parses all that is there. What is left is the beginning of a line of the head.
error_code parse(ResponseParser& parser, std::string& pending) {
  std::size_t used = 0;
  error_code failure;
  while (used < pending.size() && !parser.is_done()) {
    const std::size_t taken = parser.put(asio::buffer(pending.data() + used, pending.size() - used), failure);
    used += taken;
    if (failure || taken == 0) break;
  }
  pending.erase(0, used);
  return failure == http::error::need_more ? error_code() : failure;
}

}  // namespace

Ns now_ns() { return std::chrono::duration_cast<std::chrono::nanoseconds>(Steady::now().time_since_epoch()).count(); }

void Wire::interrupt() {
  interrupted_ = true;
  stream_.close();  // what is begun afterwards fails, too
}

void Wire::report(const error_code& failure, RequestOutcome otherwise, Receiver& receiver) const {
  const RequestOutcome outcome = interrupted_                       ? RequestOutcome::kInterrupted
                                 : failure == beast::error::timeout ? RequestOutcome::kTimedOut
                                                                    : otherwise;
  receiver.fail(outcome, outcome == RequestOutcome::kTimedOut ? "the answer did not end within the timeout" : failure.message(), now_ns());
}

asio::awaitable<void> Wire::exchange(std::string message, Receiver& receiver, Ns deadline_ns, WireTimes& times) {
  stream_.expires_at(Steady::time_point(std::chrono::nanoseconds(deadline_ns)));
  auto [unreached] = co_await stream_.async_connect(endpoint_of(target_), kAwait);
  if (unreached) co_return report(unreached, RequestOutcome::kNotReached, receiver);
  times.connected_ns = now_ns();
  auto [unsent, sent] = co_await asio::async_write(stream_, asio::buffer(message), kAwait);
  // A server may answer, and close, before it has read all: what it says counts.
  if (unsent && (interrupted_ || unsent == beast::error::timeout)) co_return report(unsent, RequestOutcome::kCutOff, receiver);
  co_await receive(receiver, times);
}

asio::awaitable<void> Wire::receive(Receiver& receiver, WireTimes& times) {
  ResponseParser parser(receiver);
  std::string pending;
  std::array<char, kReadBytes> bytes;
  bool last_bytes = false;
  while (!parser.is_done()) {
    auto [failure, size] = co_await stream_.async_read_some(asio::buffer(bytes), kAwait);
    parser.at_ns = now_ns();
    if (size > 0 && times.first_byte_ns == 0) times.first_byte_ns = parser.at_ns;
    const bool closed = failure == asio::error::eof;
    if (failure && !closed) co_return report(failure, RequestOutcome::kCutOff, receiver);
    pending.append(bytes.data(), size);
    error_code broken = parse(parser, pending);
    if (closed && !broken && parser.got_some() && !parser.is_done()) parser.put_eof(broken);
    if (broken == http::error::partial_message || (closed && !parser.is_header_done()))
      co_return receiver.fail(RequestOutcome::kCutOff, "the connection was closed before the answer ended", parser.at_ns);
    if (broken) co_return receiver.fail(RequestOutcome::kGarbled, "this is no HTTP response: " + broken.message(), parser.at_ns);
    if (closed) break;
    if (receiver.is_over() && !last_bytes) stream_.expires_after(kGrace), last_bytes = true;
  }
  receiver.end(!parser.need_eof(), parser.at_ns);
}

}  // namespace nl::load
