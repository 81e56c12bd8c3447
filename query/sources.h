#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/staging/staged_trace.h"
#include "model/run.h"
#include "model/trace.h"
#include "query/table.h"

// What tables are made of: the trace of a run, what is derived from it, and its run.json.
namespace nl::query {

class IdleTime;

// The windows of the stages by their start, longest first: their place is their id.
struct WindowList {
  std::vector<analysis::Window> windows;
  std::vector<std::uint32_t> positions;  // of each among those of its stage
  std::vector<std::string> stages;       // by Window::stage

  // The innermost window of a thread around that time; of a thread without stages, that of the one thread of its process that has any open
  // then. kNone: there is none.
  std::uint32_t around(const Trace& trace, std::uint32_t thread, Ns start_ns, Ns end_ns) const;
  const std::string& stage_of(std::uint32_t window) const { return stages[windows[window].stage]; }

  WindowList() = default;
  explicit WindowList(const analysis::StagedTrace& staged);

 private:
  struct OfThread {
    std::vector<std::uint32_t> windows, parents;  // by start; the window around each, or kNone
  };
  std::uint32_t on_thread(std::uint32_t thread, Ns start_ns, Ns end_ns) const;
  std::vector<OfThread> threads_;
};

struct Sources {
  // Null: no table asked for it.
  const Trace* trace = nullptr;
  const WindowList* windows = nullptr;
  const IdleTime* idle = nullptr;
  const Run* run = nullptr;
};

// Which run is asked.
struct Subject {
  std::string run;                     // as every verb takes it: a bundle, a run.json, a capture, a name of the ledger
  std::string ledger;                  // its location; empty: the default one
  std::vector<std::string> sets = {};  // keys of the configuration
};

// Reads what is needed of the run, and calls `use` with it. Throws Error(kInput) where the run does not have it.
void with_sources(const Subject& subject, Needs needs, const std::function<void(const Sources&)>& use);

}  // namespace nl::query
