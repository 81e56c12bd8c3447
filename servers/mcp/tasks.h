#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "servers/mcp/protocol.h"

namespace nl::servers::mcp {

// Calls that go on after their reply, of the extension io.modelcontextprotocol/tasks: started, asked for, cancelled. They live as long as this
// process, and what became of one is known for a day.
class Tasks {
 public:
  // The result of the call. `tell` takes a sentence of what it does now.
  using Work = std::function<ordered_json(std::stop_token stop, const std::function<void(std::string_view)>& tell)>;

  Tasks();
  ~Tasks();
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  // The state of the new task. Throws RpcError(kTooBusy) where there are too many.
  ordered_json start(Work work);
  ordered_json get(const std::string& id);  // both throw RpcError(kInvalidParams) where there is no such task
  void cancel(const std::string& id);
  void end();  // asks all to stop, and waits for them

 private:
  struct Task;
  ordered_json state_of(const Task& task) const;
  Task& find(const std::string& id);
  void forget_old();

  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Task>> tasks_;
};

}  // namespace nl::servers::mcp
