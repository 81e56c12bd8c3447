#include "servers/mcp/tasks.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "servers/mcp/kept_answers.h"

namespace nl::servers::mcp {
namespace {

using Clock = std::chrono::system_clock;

constexpr std::chrono::milliseconds kKept = std::chrono::hours(24);
constexpr int kPollMs = 1000;
constexpr std::size_t kMostTasks = 64;

// "2026-11-18T20:15:00Z"
std::string time_text(Clock::time_point time) { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(Clock::to_time_t(time))); }

}  // namespace

struct Tasks::Task {
  enum class State { kWorking, kCompleted, kFailed, kCancelled };

  const char* status() const {
    switch (state) {
      case State::kWorking: return "working";
      case State::kCompleted: return "completed";
      case State::kFailed: return "failed";
      case State::kCancelled: return "cancelled";
    }
    return "";
  }
  bool works() const { return state == State::kWorking; }

  std::string id = random_name();
  State state = State::kWorking;
  std::string message;
  Clock::time_point created = Clock::now(), updated = created;
  ordered_json result;            // completed
  std::optional<RpcError> error;  // failed
  std::jthread thread;            // the last member: it is stopped and joined before the others go
};

Tasks::Tasks() = default;
Tasks::~Tasks() { end(); }

ordered_json Tasks::state_of(const Task& task) const {
  ordered_json state = {{"taskId", task.id}, {"status", task.status()}};
  if (!task.message.empty()) state["statusMessage"] = task.message;
  state["createdAt"] = time_text(task.created);
  state["lastUpdatedAt"] = time_text(task.updated);
  state["ttlMs"] = kKept.count();
  state["pollIntervalMs"] = kPollMs;
  if (task.state == Task::State::kCompleted) state["result"] = task.result;
  if (task.state == Task::State::kFailed) state["error"] = {{"code", task.error->code}, {"message", task.error->message}};
  return state;
}

ordered_json Tasks::start(Work work) {
  auto owned = std::make_unique<Task>();
  Task& task = *owned;
  const std::lock_guard lock(mutex_);
  forget_old();
  if (tasks_.size() >= kMostTasks) throw RpcError(kTooBusy, "there are too many tasks; wait until one has ended, or cancel one");
  tasks_[task.id] = std::move(owned);
  task.thread = std::jthread([this, &task, work = std::move(work)](std::stop_token stop) {
    const auto tell = [&](std::string_view what) {
      const std::lock_guard held(mutex_);
      task.message = what;
      task.updated = Clock::now();
    };
    ordered_json result;
    std::optional<RpcError> error;
    try {
      result = work(stop, tell);
    } catch (const RpcError& wrong) {
      error = wrong;
    } catch (const std::exception& wrong) {
      error = RpcError(kInternalError, wrong.what());
    }
    const std::lock_guard held(mutex_);
    task.state = stop.stop_requested() ? Task::State::kCancelled : error ? Task::State::kFailed : Task::State::kCompleted;
    task.message = error ? error->message : "";
    task.result = std::move(result);
    task.error = std::move(error);
    task.updated = Clock::now();
  });
  return state_of(task);
}

Tasks::Task& Tasks::find(const std::string& id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) throw RpcError(kInvalidParams, "there is no such task, or it ended more than a day ago");
  return *found->second;
}

ordered_json Tasks::get(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return state_of(find(id));
}

void Tasks::cancel(const std::string& id) {
  const std::lock_guard lock(mutex_);
  Task& task = find(id);
  if (task.works()) task.message = "ends, and keeps what it has captured";
  task.thread.request_stop();
}

void Tasks::forget_old() {
  const auto old = Clock::now() - kKept;
  std::erase_if(tasks_, [&](const auto& each) { return !each.second->works() && each.second->updated < old; });
  // Their threads have ended: the oldest of those make room.
  while (tasks_.size() >= kMostTasks) {
    auto oldest = tasks_.end();
    for (auto each = tasks_.begin(); each != tasks_.end(); ++each)
      if (!each->second->works() && (oldest == tasks_.end() || each->second->updated < oldest->second->updated)) oldest = each;
    if (oldest == tasks_.end()) return;
    tasks_.erase(oldest);
  }
}

void Tasks::end() {
  {
    const std::lock_guard lock(mutex_);
    for (auto& [id, task] : tasks_) task->thread.request_stop();
  }
  // No task is started any more; each takes the mutex to say how it ended.
  for (auto& [id, task] : tasks_)
    if (task->thread.joinable()) task->thread.join();
}

}  // namespace nl::servers::mcp
