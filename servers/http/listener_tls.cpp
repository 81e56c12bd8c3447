#include <fmt/format.h>

#include <boost/asio/ssl.hpp>
#include <boost/beast/ssl.hpp>

#include "model/error.h"
#include "servers/http/listener_parts.h"

// The listener with TLS, by OpenSSL.
namespace nl::servers::http {
namespace {

using Context = asio::ssl::context;

template <class Load>
void load(const std::string& file, const char* flag, Load load_file) {
  beast::error_code failure;
  load_file(failure);
  if (failure)
    throw Error(ErrorKind::kUsage, fmt::format("the file cannot be used for TLS: {}", failure.message()), fmt::format("{} {}", flag, file),
                "give a certificate and its key in PEM, which this user may read");
}

class TlsListener : public BeastListener {
 public:
  TlsListener(const ListenOptions& options, Answers answers, Counters& counters)
      : BeastListener(options, std::move(answers), counters), tls_(Context::tls_server) {
    SSL_CTX_set_min_proto_version(tls_.native_handle(), TLS1_2_VERSION);
    load(options.certificate, "--tls-cert", [&](auto& failure) { tls_.use_certificate_chain_file(options.certificate, failure); });
    load(options.key, "--tls-key", [&](auto& failure) { tls_.use_private_key_file(options.key, Context::pem, failure); });
  }

 private:
  asio::awaitable<void> welcome(beast::tcp_stream socket, std::string client) override {
    beast::ssl_stream<beast::tcp_stream> stream(std::move(socket), tls_);
    beast::get_lowest_layer(stream).expires_after(options_.header_time);
    auto [error] = co_await stream.async_handshake(asio::ssl::stream_base::server, kAwait);
    if (error) co_return;
    co_await converse(stream, std::move(client), true);
    beast::get_lowest_layer(stream).expires_after(std::chrono::seconds(1));
    co_await stream.async_shutdown(kAwait);
  }

  Context tls_;
};

}  // namespace

std::unique_ptr<Listener> listen(const ListenOptions& options, Answers answers, Counters& counters) {
  if (options.certificate.empty()) return std::make_unique<BeastListener>(options, std::move(answers), counters);
  return std::make_unique<TlsListener>(options, std::move(answers), counters);
}

}  // namespace nl::servers::http
