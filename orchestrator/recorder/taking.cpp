#include "orchestrator/recorder/taking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "model/error.h"

namespace nl::orchestrator {
namespace {

constexpr Ns kTogetherIn = 200'000'000;  // processes that open at one step are told so long before

void hear_armed(Taking& taking, const RecorderLine& line) {
  WindowProcess& process = taking.process;
  process.has_steps = line.number("steps", 0) > 0;
  process.cuda = line.number("cuda", 0) != 0;
  process.gpu = line.number("gpu", 0) != 0;
  if (process.cuda && !process.gpu) process.trouble = "CUPTI cannot be joined in this process: its GPU work is not recorded";
  taking.state = Taking::State::kArmed;
}

std::optional<std::int64_t> number_in(const RecorderLine& line, std::string_view key) {
  const std::int64_t number = line.number(key, -1);
  return number >= 0 ? std::optional(number) : std::nullopt;
}

void hear_closed(Taking& taking, const RecorderLine& line) {
  WindowProcess& process = taking.process;
  if (const std::int64_t opened = line.number("opened_ns", 0); opened > 0) process.opened_ns = opened;
  if (process.opened_ns) process.closed_ns = line.number("closed_ns", 0);
  process.first_step = number_in(line, "first_step");
  process.first_collective = number_in(line, "first_collective");
  process.steps = static_cast<std::uint64_t>(line.number("steps", 0));
  process.idle_steps = static_cast<std::uint64_t>(line.number("idle_steps", 0));
  process.launches = static_cast<std::uint64_t>(line.number("launches", 0));
  if (line.number("recorded", 1) == 0) process.trouble = "its file could not be written to the end: the disk may be full";
  taking.state = Taking::State::kClosed;
}

void hear_error(Taking& taking, const RecorderLine& line) {
  WindowProcess& process = taking.process;
  if (line.busy)
    throw Error(ErrorKind::kUsage, fmt::format("a window of process {} is open already", process.pid), process.name,
                "wait until it is over: a process has one window at a time");
  process.trouble = "it refused: " + line.rest;
  taking.state = Taking::State::kGone;
}

struct Numbers {
  std::size_t count = 0;
  std::int64_t least = INT64_MAX, most = -1;

  void add(std::int64_t number) {
    ++count;
    least = std::min(least, number);
    most = std::max(most, number);
  }
};

// Whether all that opened at a step have this number of it, and the same one.
template <typename NumberOf>
bool opened_together(const std::vector<WindowProcess>& processes, NumberOf number_of) {
  std::optional<std::int64_t> first;
  for (const WindowProcess& each : processes) {
    if (!each.has_steps || !each.opened_ns) continue;
    const std::optional<std::int64_t> number = number_of(each);
    if (!number || (first && *first != *number)) return false;
    first = number;
  }
  return first.has_value();
}

}  // namespace

void Taking::lose() {
  if (over()) return;
  const bool inside = state == State::kOpen || state == State::kTold;
  process.trouble = inside ? "it ended inside the window; what was written until then is here" : "it ended before the window opened";
  state = State::kGone;
}

void Taking::hear(const RecorderLine& line) {
  next_step = line.number("next_step", next_step);
  next_collective = line.number("next_collective", next_collective);
  step_collectives = line.number("step_collectives", step_collectives);
  median_ns = line.number("median_ns", median_ns);
  switch (line.says) {
    case RecorderSays::kStatus: answers = true; return;
    case RecorderSays::kArmed: return hear_armed(*this, line);
    case RecorderSays::kClosed: return hear_closed(*this, line);
    case RecorderSays::kError: return hear_error(*this, line);
    case RecorderSays::kMet:
      if (state == State::kArmed) state = State::kMet;
      return;
    case RecorderSays::kOpened:
      process.opened_ns = line.number("ns", 0);
      state = State::kOpen;
      return;
    case RecorderSays::kOther: return;
  }
}

OpenAt step_ahead(const std::vector<Taking>& all) {
  Numbers steps, collectives, step_collectives;
  std::int64_t leading = 0;
  Ns median_ns = 0;
  for (const Taking& each : all) {
    if (!each.leads()) continue;
    ++leading;
    if (each.next_step >= 0) steps.add(each.next_step);
    if (each.next_collective >= 0) collectives.add(each.next_collective);
    step_collectives.add(each.step_collectives);
    median_ns = std::max(median_ns, each.median_ns);
  }
  if (leading < 2) return {};
  const std::int64_t ahead = std::max<std::int64_t>(2, median_ns > 0 ? kTogetherIn / median_ns + 1 : 2);
  if (steps.count > 1) return {steps.most + ahead, -1};
  // Processes whose steps call other numbers of them, or that are further apart than that, do not call the same collectives: stages of a
  // pipeline do not.
  const bool alike = collectives.count == static_cast<std::size_t>(leading) && step_collectives.least == step_collectives.most &&
                     collectives.most - collectives.least <= ahead * step_collectives.most;
  return {-1, alike ? collectives.most + ahead * step_collectives.most : -1};
}

WindowOpening opening_of(const std::vector<WindowProcess>& processes, OpenAt told) {
  if (opened_together(processes, [](const WindowProcess& each) { return each.first_step; })) return WindowOpening::kMark;
  // A number that no process was told says nothing: steps that open at one time may have the same one by chance.
  const bool by_collective =
      told.collective >= 0 && opened_together(processes, [](const WindowProcess& each) { return each.first_collective; });
  return by_collective ? WindowOpening::kCollective : WindowOpening::kTime;
}

}  // namespace nl::orchestrator
