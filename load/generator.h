#pragma once

#include <functional>
#include <string>
#include <vector>

#include "load/prompts.h"
#include "load/target.h"

namespace nl::load {

// What is sent, and when.
struct LoadPlan {
  Target target;
  LoadEndpoint endpoint = LoadEndpoint::kCompletions;
  std::string model = {};
  std::string headers = {};  // whole lines, each with its line end
  std::string run_id = {};   // what the ids of its requests begin with
  LoadArrivals arrivals;
  std::vector<Ns> due_ns = {};  // of an open loop, from its start
  Prompts prompts;
  std::size_t requests = 0;  // of a closed loop
  Ns most_ns = 0;            // no request begins later
  std::size_t warmups = 0;   // sent before, one after another
  std::size_t most_open = 1024;
  Ns timeout_ns = 0;  // of each request
  bool to_the_end = true;
};

// Asked whenever the descriptor is readable: true ends the load.
struct LoadInterrupt {
  int fd = -1;
  std::function<bool()> asked = [] { return false; };
};

// Sends the requests, one thread and one event loop for all. An open loop sends each when it is due, whatever became of those before; a closed one has
// so many users, each of whom waits. Nothing is thrown for what a server does: that stands in the records.
LoadRun generate_load(const LoadPlan& plan, const LoadInterrupt& interrupt);

// The first that the server lists under /v1/models. Throws Error(kWorkload) where it does not answer or has none.
std::string first_model(const Target& target, const std::string& headers, Ns timeout_ns);

}  // namespace nl::load
