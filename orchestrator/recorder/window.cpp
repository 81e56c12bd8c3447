#include "orchestrator/recorder/window.h"

#include <fmt/format.h>
#include <poll.h>
#include <time.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/error_code.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/config/units.h"
#include "orchestrator/recorder/process_link.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

constexpr Ns kMs = 1'000'000, kSecond = 1000 * kMs;
constexpr Ns kAnswerWithin = 5 * kSecond;  // a process that is asked for something at once
constexpr Ns kCloseWithin = 10 * kSecond;  // after its time is up
constexpr Ns kTogetherIn = 100 * kMs;      // processes that open at one step are told so long before

Ns now_ns() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return Ns{now.tv_sec} * kSecond + now.tv_nsec;
}

enum class State { kAsked, kArmed, kMet, kTold, kOpen, kClosed, kGone };

struct Taking {
  ProcessLink link;
  WindowProcess process;
  State state = State::kAsked;
  std::int64_t next_step = -1;
  Ns median_ns = 0;

  bool over() const { return state == State::kClosed || state == State::kGone; }
};

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
  void hear(Taking& taking, const RecorderLine& line);
  static void hear_armed(Taking& taking, const RecorderLine& line);
  static void hear_closed(Taking& taking, const RecorderLine& line);
  void lose(Taking& taking);
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

void WindowTaker::lose(Taking& taking) {
  if (taking.over()) return;
  const bool inside = taking.state == State::kOpen || taking.state == State::kTold;
  taking.process.trouble = inside ? "it ended inside the window; what was written until then is here" : "it ended before the window opened";
  taking.state = State::kGone;
}

void WindowTaker::hear(Taking& taking, const RecorderLine& line) {
  WindowProcess& process = taking.process;
  taking.next_step = line.number("next_step", taking.next_step);
  taking.median_ns = line.number("median_ns", taking.median_ns);
  switch (line.says) {
    case RecorderSays::kArmed: return hear_armed(taking, line);
    case RecorderSays::kClosed: return hear_closed(taking, line);
    case RecorderSays::kMet:
      if (taking.state == State::kArmed) taking.state = State::kMet;
      return;
    case RecorderSays::kOpened:
      process.opened_ns = line.number("ns", 0);
      taking.state = State::kOpen;
      return;
    case RecorderSays::kError:
      if (line.busy)
        throw Error(ErrorKind::kUsage, fmt::format("a window of process {} is open already", process.pid), process.name,
                    "wait until it is over: a process has one window at a time");
      process.trouble = "it refused: " + line.rest;
      taking.state = State::kGone;
      return;
    default: return;
  }
}

void WindowTaker::hear_armed(Taking& taking, const RecorderLine& line) {
  WindowProcess& process = taking.process;
  process.has_steps = line.number("steps", 0) > 0;
  process.cuda = line.number("cuda", 0) != 0;
  process.gpu = line.number("gpu", 0) != 0;
  if (process.cuda && !process.gpu) process.trouble = "CUPTI cannot be joined in this process: its GPU work is not recorded";
  taking.state = State::kArmed;
}

void WindowTaker::hear_closed(Taking& taking, const RecorderLine& line) {
  WindowProcess& process = taking.process;
  if (const std::int64_t opened = line.number("opened_ns", 0); opened > 0) process.opened_ns = opened;
  if (process.opened_ns) process.closed_ns = line.number("closed_ns", 0);
  if (const std::int64_t step = line.number("first_step", -1); step >= 0) process.first_step = step;
  process.steps = static_cast<std::uint64_t>(line.number("steps", 0));
  process.idle_steps = static_cast<std::uint64_t>(line.number("idle_steps", 0));
  process.launches = static_cast<std::uint64_t>(line.number("launches", 0));
  if (line.number("recorded", 1) == 0) process.trouble = "its file could not be written to the end: the disk may be full";
  taking.state = State::kClosed;
}

void WindowTaker::listen(Ns most_ns) {
  std::vector<pollfd> polled;
  for (const Taking& each : all_)
    if (each.link.fd() >= 0) polled.push_back({each.link.fd(), POLLIN, 0});
  if (watcher_.wake_fd >= 0) polled.push_back({watcher_.wake_fd, POLLIN, 0});
  ::poll(polled.data(), polled.size(), static_cast<int>(std::clamp<Ns>(most_ns / kMs, 1, 1000)));
  for (Taking& each : all_) {
    while (const std::optional<RecorderLine> line = each.link.next()) hear(each, *line);
    if (each.link.fd() < 0) lose(each);
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

void WindowTaker::open() {
  const bool by_step = any_steps();
  const auto ready = [&](const Taking& each) { return each.state == State::kMet && each.process.has_steps == by_step; };
  if (watcher_.doing && by_step && (request_.min_batch > 0 || request_.when))
    watcher_.doing(request_.when ? "waiting for a slow step"
                                 : fmt::format("waiting for a step of at least {} requests", request_.min_batch));
  if (!wait(now_ns() + request_.within_ns, [&] { return std::any_of(all_.begin(), all_.end(), ready); }) && !window_.stopped)
    no_step_came();
  if (window_.stopped) return;
  // Steps that are numbered alike open together: a number that none of them has reached, as far as is known.
  std::int64_t at_step = -1;
  std::size_t numbered = 0;
  Ns median_ns = 0;
  for (const Taking& each : all_)
    if (!each.over() && each.process.has_steps && each.next_step >= 0) {
      ++numbered;
      at_step = std::max(at_step, each.next_step);
      median_ns = std::max(median_ns, each.median_ns);
    }
  if (numbered > 1) at_step += std::max<std::int64_t>(2, median_ns > 0 ? kTogetherIn / median_ns + 1 : 2);
  else at_step = -1;
  window_.opening = numbered > 0 ? WindowOpening::kStep : WindowOpening::kTime;
  const Ns open_at_ns = now_ns() + (all_.size() > 1 ? 2 * kMs : 0);
  for (Taking& each : all_) {
    if (each.over()) continue;
    each.link.send(fmt::format("open ns={} step={}", open_at_ns, each.next_step >= 0 && each.process.has_steps ? at_step : -1));
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
  return std::move(window_);
}

// "50ms" in ns. A number without a unit is no time.
std::optional<Ns> duration_in(std::string_view text) {
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text.back())) == 0) return std::nullopt;
  const std::optional<double> seconds = seconds_in(text);
  return seconds && *seconds > 0 ? std::optional(static_cast<Ns>(*seconds * 1e9)) : std::nullopt;
}

}  // namespace

SlowStep slow_step_of(const std::string& condition) {
  std::string text;
  std::copy_if(condition.begin(), condition.end(), std::back_inserter(text), [](char c) { return c != ' '; });
  constexpr std::string_view kStep = "step>", kMedian = "*median";
  if (text.starts_with(kStep)) {
    text.erase(0, kStep.size());
    if (const auto time_ns = duration_in(text)) return {0, *time_ns};
    double factor = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), factor);
    if (failure == std::errc() && std::string_view(end) == kMedian && factor >= 1 && factor <= 1e6) return {factor, 0};
  }
  throw Error(ErrorKind::kUsage, fmt::format("'{}' is no condition on a step", condition), "--when",
              "say 'step > 3*median' or 'step > 50ms'");
}

std::vector<fs::path> Window::files() const {
  std::vector<fs::path> all;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".nltrace") all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

std::uint64_t Window::steps() const {
  std::uint64_t most = 0;
  for (const WindowProcess& each : processes) most = std::max(most, each.steps);
  return most;
}

std::uint64_t Window::launches() const {
  std::uint64_t sum = 0;
  for (const WindowProcess& each : processes) sum += each.launches;
  return sum;
}

Window take_window(const Recorder& recorder, const WindowRequest& request, const WindowWatcher& watcher) {
  return WindowTaker(recorder, request, watcher).take();
}

std::string window_json(const Window& window, const WindowRequest& request) {
  using nlohmann::ordered_json;
  const auto known = [](const auto& value) { return value ? ordered_json(*value) : ordered_json(); };
  ordered_json processes = ordered_json::array();
  for (const WindowProcess& each : window.processes)
    processes.push_back({{"pid", each.pid},
                         {"name", each.name},
                         {"has_steps", each.has_steps},
                         {"gpu_recorded", each.gpu},
                         {"first_step", known(each.first_step)},
                         {"steps", each.steps},
                         {"idle_steps", each.idle_steps},
                         {"launches", each.launches},
                         {"opened_monotonic_ns", known(each.opened_ns)},
                         {"closed_monotonic_ns", known(each.closed_ns)},
                         {"trouble", each.trouble.empty() ? ordered_json() : ordered_json(each.trouble)}});
  const ordered_json json = {{"window", window.id},
                             {"opened_at", window.opening == WindowOpening::kStep ? "step" : "time"},
                             {"asked",
                              {{"steps", request.steps},
                               {"most_ns", request.most_ns},
                               {"min_batch", request.min_batch},
                               {"slow_factor", request.when ? request.when->factor : 0},
                               {"slow_ns", request.when ? request.when->longer_than_ns : 0}}},
                             {"stopped", window.stopped},
                             {"processes", processes}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nl::orchestrator
