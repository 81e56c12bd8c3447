#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cmath>

#include "model/error_code.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/recorder/taking.h"
#include "orchestrator/sampling/clock.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

using State = Taking::State;

constexpr Ns kMs = 1'000'000, kSecond = 1000 * kMs;
constexpr Ns kAnswerWithin = 5 * kSecond;  // a process that is asked for something at once
constexpr Ns kSayWithin = 100 * kMs;       // how far it is; without an answer what it said before is taken
constexpr Ns kCloseWithin = 10 * kSecond;  // after its time is up

Ns now_ns() { return clock_now_ns(CLOCK_MONOTONIC); }

class WindowTaker {
 public:
  WindowTaker(const Recorder& recorder, const WindowRequest& request, const WindowWatcher& watcher);
  Window take();

 private:
  void arm();
  void open();
  void close();
  // Until all that are `wanted` are so, or the time is up; false: the time is up, or the user stops it.
  template <typename Done>
  bool wait(Ns until_ns, Done done);
  void listen(Ns most_ns);
  void ask_how_far();
  bool any_steps() const {
    return std::any_of(all_.begin(), all_.end(), [](const Taking& each) { return each.process.has_steps && each.state != State::kGone; });
  }
  Ns most_ns() const { return request_.most_ns > 0 ? request_.most_ns : any_steps() && request_.steps > 0 ? 30 * kSecond : 2 * kSecond; }
  [[noreturn]] void give_up(const std::string& what, const std::string& fix);
  [[noreturn]] void no_step_came();

  const WindowRequest& request_;
  const WindowWatcher& watcher_;
  Window window_;
  std::vector<Taking> all_;
  OpenAt told_;
};

WindowTaker::WindowTaker(const Recorder& recorder, const WindowRequest& request, const WindowWatcher& watcher)
    : request_(request), watcher_(watcher) {
  window_.id = fmt::format("w-{:08x}", random_bits());
  window_.folder = recorder.folder / "windows" / window_.id;
  for (const int pid : recorder.pids) {
    ProcessLink link(recorder.folder, pid);
    if (link.fd() < 0) continue;  // killed, or it runs another program now
    WindowProcess process;
    process.pid = pid;
    process.name = link.name();
    all_.push_back({std::move(link), std::move(process)});
  }
  if (all_.empty())
    throw CodedError(ErrorCode::kNoRecorder, fmt::format("no process of the recorder '{}' answers", recorder.name),
                     recorder.folder.string(), "its program has ended; start it again with nl-stage recorder -- COMMAND");
}

void WindowTaker::listen(Ns most_ns) {
  std::vector<pollfd> polled;
  for (const Taking& each : all_)
    if (each.link.fd() >= 0) polled.push_back({each.link.fd(), POLLIN, 0});
  if (watcher_.wake_fd >= 0) polled.push_back({watcher_.wake_fd, POLLIN, 0});
  ::poll(polled.data(), polled.size(), static_cast<int>(std::clamp<Ns>(most_ns / kMs, 1, 1000)));
  for (Taking& each : all_) {
    while (const std::optional<RecorderLine> line = each.link.next()) each.hear(*line);
    if (each.link.fd() < 0) each.lose();
  }
}

template <typename Done>
bool WindowTaker::wait(Ns until_ns, Done done) {
  while (!done()) {
    const Ns left_ns = until_ns - now_ns();
    if (left_ns <= 0) return false;
    if (watcher_.stop()) {
      window_.stopped = true;
      return false;
    }
    listen(left_ns);
  }
  return true;
}

// A process that has armed forgets it when we are gone.
void WindowTaker::give_up(const std::string& what, const std::string& fix) {
  std::error_code ignored;
  fs::remove_all(window_.folder, ignored);
  throw Error(ErrorKind::kTimeout, what, "window", fix);
}

void WindowTaker::no_step_came() {
  for (Taking& each : all_) each.link.send("close");
  wait(now_ns() + kSecond, [&] { return std::all_of(all_.begin(), all_.end(), [](const Taking& each) { return each.over(); }); });
  give_up(fmt::format("no step came within {:g} s that opens the window", static_cast<double>(request_.within_ns) / 1e9),
          "send load, ask for less (--min-batch, --when), or wait longer (--within)");
}

void WindowTaker::arm() {
  const SlowStep slow = request_.when.value_or(SlowStep{});
  for (Taking& each : all_)
    each.link.send(fmt::format("arm window={} steps={} most_ns={} min_batch={} slow_percent={} slow_ns={} count_idle={}", window_.id,
                               request_.steps, request_.most_ns > 0 ? request_.most_ns : 30 * kSecond, request_.min_batch,
                               static_cast<std::int64_t>(std::lround(slow.factor * 100)), slow.longer_than_ns,
                               request_.count_idle ? 1 : 0));
  wait(now_ns() + kAnswerWithin,
       [&] { return std::none_of(all_.begin(), all_.end(), [](const Taking& each) { return each.state == State::kAsked; }); });
  for (Taking& each : all_)
    if (each.state == State::kAsked) {
      each.process.trouble = "it did not answer";
      each.state = State::kGone;
    }
  if (std::all_of(all_.begin(), all_.end(), [](const Taking& each) { return each.over(); }))
    give_up("no process of the recorder could be armed", "nl-stage recorder shows what runs");
  if (!any_steps() && (request_.min_batch > 0 || request_.when))
    give_up("the program marks no steps, and the window waits for one",
            "mark them (nl-stage help marks), or leave out --min-batch and --when");
}

// Some have waited for long, and what they said of their steps is old.
void WindowTaker::ask_how_far() {
  if (std::count_if(all_.begin(), all_.end(), [](const Taking& each) { return each.leads(); }) < 2) return;
  for (Taking& each : all_) {
    each.answers = each.over();
    each.link.send("status");
  }
  wait(now_ns() + kSayWithin,
       [&] { return std::all_of(all_.begin(), all_.end(), [](const Taking& each) { return each.answers || each.over(); }); });
}

void WindowTaker::open() {
  const bool by_step = any_steps();
  const auto ready = [&](const Taking& each) { return each.state == State::kMet && each.process.has_steps == by_step; };
  if (watcher_.doing && by_step && (request_.min_batch > 0 || request_.when))
    watcher_.doing(request_.when ? "waiting for a slow step"
                                 : fmt::format("waiting for a step of at least {} requests", request_.min_batch));
  if (!wait(now_ns() + request_.within_ns, [&] { return std::any_of(all_.begin(), all_.end(), ready); }) && !window_.stopped)
    no_step_came();
  if (window_.stopped) return;
  if (request_.min_batch > 0 || request_.when) ask_how_far();
  told_ = step_ahead(all_);
  const Ns open_at_ns = now_ns() + (all_.size() > 1 ? 2 * kMs : 0);
  for (Taking& each : all_) {
    if (each.over()) continue;
    each.link.send(fmt::format("open ns={} step={} collective={}", open_at_ns, told_.step, told_.collective));
    each.state = State::kTold;
  }
}

void WindowTaker::close() {
  if (watcher_.doing) watcher_.doing("recording");
  const bool by_step = any_steps();
  const auto leads_on = [&](const Taking& each) { return !each.over() && each.process.has_steps == by_step; };
  // Processes without steps open at once; the window is theirs that have some.
  const auto opened = [&] {
    return std::any_of(all_.begin(), all_.end(),
                       [&](const Taking& each) { return each.process.has_steps == by_step && (each.process.opened_ns || each.over()); });
  };
  if (!wait(now_ns() + request_.within_ns, opened) && !window_.stopped) no_step_came();  // an idle server has none
  if (!window_.stopped && !by_step) wait(now_ns() + most_ns(), [] { return false; });
  if (!window_.stopped && by_step)
    wait(now_ns() + most_ns() + kCloseWithin, [&] { return std::none_of(all_.begin(), all_.end(), leads_on); });
  for (Taking& each : all_)
    if (!each.over()) each.link.send("close");
  const bool stopped = window_.stopped;
  window_.stopped = false;  // what was recorded is fetched all the same
  const Ns until_ns = now_ns() + kCloseWithin;
  while (now_ns() < until_ns && !std::all_of(all_.begin(), all_.end(), [](const Taking& each) { return each.over(); })) listen(kSecond);
  window_.stopped = stopped;
  for (Taking& each : all_)
    if (!each.over()) each.process.trouble = "it did not say that its window is closed";
}

Window WindowTaker::take() {
  arm();
  open();
  close();
  for (Taking& each : all_) window_.processes.push_back(std::move(each.process));
  window_.opening = opening_of(window_.processes, told_);
  return std::move(window_);
}

}  // namespace

Window take_window(const Recorder& recorder, const WindowRequest& request, const WindowWatcher& watcher) {
  return WindowTaker(recorder, request, watcher).take();
}

}  // namespace nl::orchestrator
