#include "collector/record/window.h"

#include <atomic>

#include "collector/counters/stage_watch.h"
#include "collector/lock.h"
#include "collector/record/gpu_half.h"
#include "collector/record/steps.h"

namespace nl::collector {
namespace {

struct Watched {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  WindowPlan plan;
  WindowState state;
  StepTimes times;
  StepNumbers open_at;
  bool counts_launches = false;
  void (*wake)() = nullptr;
  std::atomic<std::uint64_t> launches{0};
};

constinit Watched watched;

struct ThreadStep {
  Step step;
  std::int64_t begun_ns;
  std::uint64_t launches;
};
constinit thread_local ThreadStep current{};

struct ThreadCollectives {
  std::int64_t count;
  std::int64_t at_last_step;
  std::uint32_t steps_without;
};
constinit thread_local ThreadCollectives collectives{};

bool fits(const Step& step) { return watched.plan.min_requests == 0 || step.requests >= watched.plan.min_requests; }

bool is_slow(std::int64_t duration_ns) {
  const WindowPlan& plan = watched.plan;
  if (plan.slow_ns > 0 && duration_ns > plan.slow_ns) return true;
  constexpr std::uint64_t kEnough = 8;  // fewer have no median worth the name
  return plan.slow_factor > 0 && watched.times.count() >= kEnough &&
         static_cast<double>(duration_ns) > plan.slow_factor * static_cast<double>(watched.times.median_ns());
}

bool waits_for_slow_step() { return watched.plan.slow_factor > 0 || watched.plan.slow_ns > 0; }

void go_to(WindowPhase phase) {
  watched.state.phase = phase;
  if (watched.wake != nullptr) watched.wake();
}

// A program that replays CUDA graphs no longer calls NCCL: the number that it was told never comes.
constexpr std::uint32_t kCallsNoMore = 8;

bool its_turn(StepNumbers now) {
  const StepNumbers at = watched.open_at;
  if (at.step >= 0 && now.step >= 0) return now.step >= at.step;
  return at.collective < 0 || now.collective >= at.collective || collectives.steps_without >= kCallsNoMore;
}

StepNumbers numbers_of(const Step& step) {
  ThreadCollectives& called = collectives;
  const std::int64_t each = called.count - called.at_last_step;
  called.steps_without = each == 0 ? called.steps_without + 1 : 0;
  called.at_last_step = called.count;
  if (each > 0) watched.state.step_collectives = static_cast<std::uint64_t>(each);
  return {step.index, called.count > 0 && called.steps_without < kCallsNoMore ? called.count : -1};
}

void step_opened(EventText text, std::uint64_t) {
  if (current.step.requests == 0 && text.name != nullptr) current.step.requests = requests_of_name(text.name->data, text.name->length);
  Lock lock(watched.mutex);
  WindowState& state = watched.state;
  current.begun_ns = now_ns();
  current.launches = watched.launches.load(std::memory_order_relaxed);
  const StepNumbers now = numbers_of(current.step);
  if (now.step >= 0) state.next.step = now.step + 1;
  state.next.collective = now.collective >= 0 ? now.collective + static_cast<std::int64_t>(state.step_collectives) : -1;
  ++state.steps_before;
  if (state.phase == WindowPhase::kWaiting && !waits_for_slow_step() && fits(current.step)) go_to(WindowPhase::kMet);
  if (state.phase != WindowPhase::kReady || !its_turn(now) || !fits(current.step)) return;
  state.first = now;
  state.opened_ns = current.begun_ns;
  go_to(WindowPhase::kOpen);
}

void count_step(std::int64_t end_ns) {
  WindowState& state = watched.state;
  const bool worked = !watched.counts_launches || watched.launches.load(std::memory_order_relaxed) != current.launches;
  ++(worked ? state.steps : state.idle_steps);
  const bool enough = watched.plan.steps > 0 && state.steps >= watched.plan.steps;
  if (!enough && end_ns - state.opened_ns < watched.plan.most_ns) return;
  state.closed_ns = end_ns;
  state.launches = watched.launches.load(std::memory_order_relaxed);
  go_to(WindowPhase::kEnding);
}

void step_closed(std::uint64_t) {
  const std::int64_t end_ns = now_ns();
  Lock lock(watched.mutex);
  WindowState& state = watched.state;
  if (state.phase == WindowPhase::kWaiting && waits_for_slow_step() && is_slow(end_ns - current.begun_ns)) go_to(WindowPhase::kMet);
  if (state.phase == WindowPhase::kOpen && current.begun_ns >= state.opened_ns) count_step(end_ns);
  watched.times.add(end_ns - current.begun_ns);
  current = {};
}

void range_begins(EventText text) { collectives.count += is_collective(text); }

constexpr StageListener kSteps{step_opened, step_closed, range_begins};

void marked(EventText text) {
  if (!is_step_mark(text)) return;
  const Step part = step_of_mark(text.name->data, text.name->length);
  // A step of many requests has several marks.
  const std::uint32_t before = part.index == current.step.index ? current.step.requests : 0;
  current.step = {part.index, before + part.requests};
}

// A child of fork has one thread, whatever another held.
void before_fork() { pthread_mutex_lock(&watched.mutex); }
void after_fork() { pthread_mutex_unlock(&watched.mutex); }

}  // namespace

void count_launch() { watched.launches.fetch_add(1, std::memory_order_relaxed); }

void watch_steps(const char* names, void (*wake)()) {
  watched.wake = wake;
  pthread_atfork(before_fork, after_fork, after_fork);
  if (watch_stages(names, &kSteps)) listen_to_marks(marked);
}

void arm_window(const WindowPlan& plan, bool counts_launches) {
  Lock lock(watched.mutex);
  watched.plan = plan;
  watched.counts_launches = counts_launches;
  WindowState& state = watched.state;
  const WindowState before = state;
  state = {};
  state.phase = WindowPhase::kWaiting;
  state.next = before.next;
  state.step_collectives = before.step_collectives;
  state.steps_before = before.steps_before;
  if (plan.min_requests == 0 && !waits_for_slow_step()) state.phase = WindowPhase::kMet;
}

void ready_window(StepNumbers at, bool at_once) {
  Lock lock(watched.mutex);
  WindowState& state = watched.state;
  if (waits_for_slow_step()) watched.plan.min_requests = 0;  // it was met, whatever the next step has
  watched.launches.store(0, std::memory_order_relaxed);
  watched.open_at = at;
  state.opened_ns = at_once ? now_ns() : 0;
  state.phase = at_once ? WindowPhase::kOpen : WindowPhase::kReady;
}

void end_window() {
  Lock lock(watched.mutex);
  WindowState& state = watched.state;
  if (state.phase == WindowPhase::kEnding) return;
  state.closed_ns = now_ns();
  state.launches = watched.launches.load(std::memory_order_relaxed);
  state.phase = WindowPhase::kEnding;
}

void forget_window() {
  Lock lock(watched.mutex);
  watched.state.phase = WindowPhase::kNone;
}

WindowState window_state() {
  Lock lock(watched.mutex);
  WindowState state = watched.state;
  state.median_ns = watched.times.median_ns();
  return state;
}

}  // namespace nl::collector
