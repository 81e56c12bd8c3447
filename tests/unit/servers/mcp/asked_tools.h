#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "model/error.h"
#include "servers/mcp/resources.h"
#include "servers/tools.h"

// Tools whose calls do what a test says: the protocol is what is tested here. tests/integration/mcp_test.cpp has the verbs.
namespace nl::test {

using nlohmann::json;
using nlohmann::ordered_json;

class AskedTools : public servers::Tools {
 public:
  AskedTools() {
    const auto add = [this](const char* name, servers::Access access, bool lasts) {
      const ordered_json schema = {{"type", "object"}, {"properties", ordered_json::object()}};
      tools_.push_back({name, "A title", "What it does.", schema, access, lasts});
    };
    add("echo", servers::Access::kRead, false);
    add("wait", servers::Access::kRead, false);
    add("long", servers::Access::kRead, false);
    add("run", servers::Access::kRun, true);
  }

  const std::vector<servers::Tool>& all() const override { return tools_; }

  servers::Answer call(std::string_view name, const json& arguments, const servers::Call& call) override {
    ++calls;
    if (name == "echo") return {ordered_json::parse(arguments.dump()), 0};
    if (name == "long") return {{{"rows", std::vector<int>(10000, 7)}}, 0};
    if (call.progress) call.progress("[1/2] the first pass");
    ++waiting;
    std::unique_lock lock(mutex_);
    released_.wait_for(lock, call.stop, std::chrono::seconds(20), [this] { return release_; });
    --waiting;
    if (call.stop.stop_requested()) {
      ++stopped;
      return {{{"run_id", "r1"}, {"status", "interrupted"}, {"ledger", nullptr}}, 130};
    }
    return {{{"run_id", "r1"}, {"status", "complete"}, {"ledger", "/l"}}, 0};
  }

  void release() {
    {
      const std::lock_guard lock(mutex_);
      release_ = true;
    }
    released_.notify_all();
  }

  void until_waiting(int so_many) const {
    for (int i = 0; i < 2000 && waiting < so_many; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  std::atomic<int> calls{0}, waiting{0}, stopped{0};

 private:
  std::vector<servers::Tool> tools_;
  std::mutex mutex_;
  std::condition_variable_any released_;
  bool release_ = false;
};

class TwoResources : public servers::mcp::Resources {
 public:
  std::vector<servers::mcp::ResourceTemplate> templates() const override { return {{"nl-stage://run/{run}/x", "x", "what", "text/plain"}}; }
  std::vector<servers::mcp::Resource> list(std::size_t from, std::size_t most) override {
    std::vector<servers::mcp::Resource> page;
    for (std::size_t i = from; i < 120 && page.size() < most; ++i)
      page.push_back({"nl-stage://run/" + std::to_string(i) + "/x", "x", "t", "text/plain"});
    return page;
  }
  std::optional<servers::mcp::ResourceText> read(const std::string& uri) override {
    if (uri == "nl-stage://broken") throw Error(ErrorKind::kInput, "it is damaged", uri, "make it anew");
    if (uri != "nl-stage://run/1/x") return std::nullopt;
    return servers::mcp::ResourceText{"text/plain", "hello"};
  }
};

}  // namespace nl::test
