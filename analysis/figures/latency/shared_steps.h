#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/figures/latency/token_timeline.h"
#include "analysis/staging/staged_trace.h"

namespace nl::analysis {

// Steps that several requests share. A server reads the prompt of a new request between two steps, and its next step is for the new
// request and for those that go on. So a request waits for its next token from one step to the next, with the prompts of others in between.
struct SharedSteps {
  std::size_t joins = 0;   // times that prompts were read while other requests went on
  std::uint64_t most = 0;  // sequences of a step
  bool serves = false;     // requests come and go: not one batch after the other

  // From one token of a request to its next, and how many requests waited so. Of measured steps. Empty: it is not known who goes on.
  struct TokenGap {
    Ns gap_ns = 0;
    std::uint64_t times = 0;
  };
  std::vector<TokenGap> token_gaps;

  // Each as often as it was. Of more than a million, every second or every n-th of equal ones.
  std::vector<Ns> all_token_gaps() const;
};

// By the sequences that each prefill and each step has, from the marks or from the names of an engine's steps.
SharedSteps find_shared_steps(const StagedTrace& staged, const TokenTimeline& tokens);

// For each request that is marked, from the end of its prompt to its last token, by its steps. Requests are served in the order
// in which they come; empty where the prefills do not fit to that.
std::vector<Ns> token_times_of_requests(const StagedTrace& staged);

// Windows of the stage that are open at the same time, at most.
std::size_t most_at_once(const StagedTrace& staged, std::uint32_t stage);

}  // namespace nl::analysis
