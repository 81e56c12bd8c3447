#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <nlohmann/json.hpp>

#include "load/generator.h"
#include "load/wire.h"
#include "model/error.h"
#include "model/input_bounds.h"
#include "model/visible_text.h"

namespace nl::load {
namespace {

using nlohmann::json;

constexpr std::size_t kMostListBytes = 4 << 20;

// A short answer, kept whole.
class Body : public Receiver {
 public:
  void head(int status, std::string_view) override { status_ = status; }
  void take(std::string_view bytes, Ns at_ns) override {
    if (text_.size() + bytes.size() > kMostListBytes) fail(RequestOutcome::kTooLarge, "the list of models is larger than 4 MiB", at_ns);
    else text_ += bytes;
  }
  void end(bool, Ns) override { over_ = true; }
  void fail(RequestOutcome, std::string error, Ns) override {
    if (!over_) error_ = std::move(error);
    over_ = true;
  }
  bool is_over() const override { return over_; }

  int status_ = 0;
  std::string text_, error_;
  bool over_ = false;
};

[[noreturn]] void refuse(const std::string& what, const Target& target, const char* fix) {
  throw Error(ErrorKind::kWorkload, what, target.url + "/v1/models", fix);
}

}  // namespace

// {"object": "list", "data": [{"id": "meta-llama/Llama-3.1-8B", "object": "model"}]}
std::string first_model(const Target& target, const std::string& headers, Ns timeout_ns) {
  asio::io_context context(1);
  Wire wire(context, target);
  Body body;
  WireTimes times;
  std::string message = fmt::format("GET {}/v1/models HTTP/1.1\r\nHost: {}\r\nUser-Agent: nl-stage\r\nConnection: close\r\n{}\r\n",
                                    target.base, target.host(), headers);
  asio::co_spawn(context, wire.exchange(std::move(message), body, now_ns() + timeout_ns, times), asio::detached);
  context.run();
  if (!body.error_.empty()) refuse("the server does not answer: " + body.error_, target, "start the server, and give its address and port");
  if (body.status_ != kHttpOk)
    refuse(fmt::format("the server answers {}: {}", body.status_, error_text(body.text_)), target, "name the model with --model NAME");
  const json root = json::parse(json_within_bounds(body.text_, target.url), nullptr, false);
  const auto list = root.is_object() ? root.find("data") : root.end();
  if (root.is_object() && list != root.end() && list->is_array() && !list->empty() && list->front().is_object())
    if (const auto id = list->front().find("id"); id != list->front().end() && id->is_string()) return id->get<std::string>();
  refuse("the server lists no model", target, "name the model with --model NAME");
}

}  // namespace nl::load
