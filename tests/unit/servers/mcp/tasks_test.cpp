#include "servers/mcp/tasks.h"

#include "tests/catch.h"

using namespace nl::servers::mcp;

namespace {

ordered_json state_at_end(Tasks& tasks, const std::string& id) {
  ordered_json state = tasks.get(id);
  for (int i = 0; i < 1000 && state["status"] == "working"; ++i, state = tasks.get(id))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return state;
}

ordered_json until_stopped(const std::stop_token& stop, const std::function<void(std::string_view)>&) {
  while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return ordered_json::object();
}

}  // namespace

TEST_CASE("servers mcp tasks: an error of the protocol fails the task, with its code") {
  Tasks tasks;
  const std::string id = tasks.start([](auto, const auto&) -> ordered_json { throw RpcError(kInvalidParams, "no"); })["taskId"];
  const ordered_json state = state_at_end(tasks, id);
  CHECK(state["status"] == "failed");
  CHECK(state["error"]["code"] == kInvalidParams);
  const std::string broken = tasks.start([](auto, const auto&) -> ordered_json { throw std::runtime_error("oh"); })["taskId"];
  CHECK(state_at_end(tasks, broken)["error"]["code"] == kInternalError);
}

TEST_CASE("servers mcp tasks: there is a most of them, and those that have ended make room") {
  Tasks tasks;
  std::vector<std::string> ids;
  for (int i = 0; i < 64; ++i) ids.push_back(tasks.start(until_stopped)["taskId"]);
  CHECK_THROWS_AS(tasks.start(until_stopped), RpcError);
  tasks.cancel(ids[3]);
  CHECK(state_at_end(tasks, ids[3])["status"] == "cancelled");
  CHECK_NOTHROW(tasks.start(until_stopped));
  CHECK_THROWS_AS(tasks.get(ids[3]), RpcError);  // forgotten
  tasks.cancel(ids[4]);
  tasks.cancel(ids[4]);  // twice is once
  CHECK(state_at_end(tasks, ids[4])["status"] == "cancelled");
}

TEST_CASE("servers mcp tasks: the end of the server ends them") {
  std::atomic<int> ended_tasks{0};
  {
    Tasks tasks;
    for (int i = 0; i < 5; ++i)
      tasks.start([&](auto stop, const auto& tell) {
        ordered_json result = until_stopped(stop, tell);
        ++ended_tasks;
        return result;
      });
  }
  CHECK(ended_tasks == 5);
}
