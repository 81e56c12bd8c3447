#include "load/generator.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <list>

#include "load/wire.h"

namespace nl::load {
namespace {

// The bytes of an answer on their way into the record of its request.
class Recorder : public Receiver {
 public:
  Recorder(LoadRequest& record, std::size_t& kept) : reader_(record, kept) {}
  void head(int status, std::string_view content_type) override { reader_.head(status, content_type); }
  void take(std::string_view bytes, Ns at_ns) override { reader_.take(bytes, at_ns); }
  void end(bool announced, Ns at_ns) override { reader_.end(announced, at_ns); }
  void fail(RequestOutcome outcome, std::string error, Ns at_ns) override { reader_.fail(outcome, std::move(error), at_ns); }
  bool is_over() const override { return reader_.is_over(); }

 private:
  AnswerReader reader_;
};

std::string message_of(const LoadPlan& plan, const std::string& id, const std::string& body) {
  return fmt::format(
      "POST {}/v1/{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: nl-stage\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\n"
      "Connection: close\r\nX-Request-Id: {}\r\n{}Content-Length: {}\r\n\r\n{}",
      plan.target.base, plan.endpoint == LoadEndpoint::kChat ? "chat/completions" : "completions", plan.target.host(), id, plan.headers,
      body.size(), body);
}

class Generator {
 public:
  Generator(const LoadPlan& plan, const LoadInterrupt& interrupt) : plan_(plan), interrupt_(interrupt), signals_(context_) {}

  void run() {
    allow_many_sockets();
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // a timer may be 50 µs late by default
    if (interrupt_.fd >= 0) {
      signals_.assign(::dup(interrupt_.fd));
      asio::co_spawn(context_, watch(), asio::detached);
    }
    asio::co_spawn(context_, whole(), [this](const std::exception_ptr& failure) {
      failure_ = failure;
      signals_.close();
    });
    context_.run();
    if (failure_) std::rethrow_exception(failure_);
  }

  LoadRun result() {
    LoadRun run;
    run.interrupted = ended_;
    run.duration_ns = ended_ns_ - began_ns_;
    run.requests.assign(std::make_move_iterator(records_.begin()), std::make_move_iterator(records_.end()));
    return run;
  }

 private:
  struct Prepared {
    LoadRequest record;
    std::string message;
  };

  static void allow_many_sockets() {
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }

  asio::awaitable<void> watch() {
    while (!ended_) {
      auto [failure] = co_await signals_.async_wait(asio::posix::stream_descriptor::wait_read, kAwait);
      if (failure) co_return;
      if (interrupt_.asked()) end_all();
      else co_await pause(now_ns() + 1'000'000);  // another signal than one that ends us
    }
  }

  void end_all() {
    ended_ = true;
    for (asio::steady_timer* timer : timers_) timer->cancel();
    for (Wire* wire : open_) wire->interrupt();
  }

  asio::awaitable<void> whole() {
    for (std::size_t i = 0; i < plan_.warmups && !ended_; ++i) {
      Prepared warmup = prepared(i, true);
      co_await send(std::move(warmup), now_ns());
    }
    began_ns_ = now_ns();
    if (plan_.arrivals.kind == ArrivalKind::kClosed) co_await closed_loop();
    else co_await open_loop();
    ended_ns_ = now_ns();
  }

  // The next message is made before its time comes: a long prompt takes a while.
  asio::awaitable<void> open_loop() {
    for (std::size_t i = 0; i < plan_.due_ns.size() && !ended_; ++i) {
      const Ns due_ns = began_ns_ + plan_.due_ns[i];
      Prepared next = prepared(i, false);
      if (due_ns > now_ns()) co_await pause(due_ns);
      else co_await asio::post(asio::use_awaitable);  // late: those before begin first
      if (ended_) break;
      if (parts_ >= plan_.most_open) leave_out(std::move(next), due_ns);
      else begin(send(std::move(next), due_ns));
    }
    co_await until_done();
  }

  asio::awaitable<void> closed_loop() {
    for (std::uint64_t user = 0; user < plan_.arrivals.concurrency.value_or(1); ++user) begin(one_user());
    co_await until_done();
  }

  asio::awaitable<void> one_user() {
    while (!ended_ && begun_ < plan_.requests) {
      const Ns free_ns = now_ns();
      if (free_ns - began_ns_ >= plan_.most_ns) break;
      Prepared next = prepared(begun_++, false);
      co_await send(std::move(next), free_ns);
    }
  }

  // Several run beside each other; the load ends with the last.
  void begin(asio::awaitable<void> part) {
    ++parts_;
    asio::co_spawn(context_, std::move(part), [this](const std::exception_ptr& failure) {
      if (failure && !failure_) failure_ = failure, end_all();
      if (--parts_ == 0 && last_part_ != nullptr) last_part_->cancel();
    });
  }

  asio::awaitable<void> until_done() {
    asio::steady_timer last(context_, asio::steady_timer::time_point::max());
    last_part_ = &last;
    while (parts_ > 0) co_await last.async_wait(kAwait);
    last_part_ = nullptr;
  }

  asio::awaitable<void> pause(Ns until_ns) {
    asio::steady_timer timer(context_, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(until_ns)));
    const auto place = timers_.insert(timers_.end(), &timer);
    co_await timer.async_wait(kAwait);
    timers_.erase(place);
  }

  Prepared prepared(std::size_t index, bool warmup) const {
    // Warm-ups take prompts that no other request has.
    const Prompt prompt = plan_.prompts.at(warmup ? index + kWarmupPrompts : index);
    Prepared out;
    out.record.id = fmt::format("{}-{}{}", plan_.run_id, warmup ? "warmup-" : "", index);
    out.record.warmup = warmup;
    out.record.asked_prompt_tokens = prompt.asked_tokens;
    out.record.asked_output_tokens = prompt.output_tokens;
    out.message = message_of(plan_, out.record.id, request_body(plan_.endpoint, plan_.model, prompt, plan_.to_the_end));
    return out;
  }

  void leave_out(Prepared request, Ns due_ns) {
    LoadRequest& record = records_.emplace_back(std::move(request.record));
    record.scheduled_ns = due_ns;
    record.outcome = RequestOutcome::kNotSent;
    record.error = fmt::format("{} requests were open", parts_);
  }

  asio::awaitable<void> send(Prepared request, Ns due_ns) {
    LoadRequest& record = records_.emplace_back(std::move(request.record));
    record.scheduled_ns = due_ns;
    if (ended_) {  // between its turn and its start
      record.outcome = RequestOutcome::kInterrupted;
      co_return;
    }
    Recorder recorder(record, kept_chunks_);
    Wire wire(context_, plan_.target);
    const auto place = open_.insert(open_.end(), &wire);
    WireTimes times;
    record.sent_ns = now_ns();
    co_await wire.exchange(std::move(request.message), recorder, *record.sent_ns + plan_.timeout_ns, times);
    open_.erase(place);
    if (times.connected_ns > 0) record.connected_ns = times.connected_ns;
    if (times.first_byte_ns > 0) record.first_byte_ns = times.first_byte_ns;
  }

  static constexpr std::size_t kWarmupPrompts = std::size_t{1} << 40;

  const LoadPlan& plan_;
  const LoadInterrupt& interrupt_;
  asio::io_context context_{1};
  asio::posix::stream_descriptor signals_;
  std::deque<LoadRequest> records_;  // in the order of sending; their places stay
  std::list<Wire*> open_;
  std::list<asio::steady_timer*> timers_;
  asio::steady_timer* last_part_ = nullptr;
  std::size_t parts_ = 0, begun_ = 0, kept_chunks_ = 0;
  Ns began_ns_ = 0, ended_ns_ = 0;
  bool ended_ = false;
  std::exception_ptr failure_;
};

Ns epoch_offset_ns() {
  const auto epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(epoch).count() - now_ns();
}

}  // namespace

LoadRun generate_load(const LoadPlan& plan, const LoadInterrupt& interrupt) {
  const Ns offset_ns = epoch_offset_ns();
  const std::string created_at = utc_text(now_ns() + offset_ns);
  Generator generator(plan, interrupt);
  generator.run();
  LoadRun run = generator.result();
  run.name = run.target = plan.target.url;
  run.created_at = created_at;
  run.model = plan.model;
  run.endpoint = plan.endpoint;
  run.arrivals = plan.arrivals;
  run.epoch_offset_ns = offset_ns;
  return run;
}

}  // namespace nl::load
