#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/staging/windows.h"
#include "model/trace.h"

namespace nl::analysis {

// How many tokens the workload was asked for, as the model's configuration has it.
struct TokenCounts {
  std::optional<std::uint64_t> batch;          // sequences
  std::optional<std::uint64_t> prompt_tokens;  // of each sequence
  std::optional<std::uint64_t> decode_tokens;  // steps of a decode window
};

// The counts that hold at a time, by process: the configuration's, and over them what the marks said until then.
class TokenTimeline {
 public:
  TokenTimeline(const Trace& trace, const TokenCounts& configured);
  // A workload may say it at any time until the window ends.
  const TokenCounts& at(const Window& window) const;
  // Where marks and configuration contradict each other.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void take(const std::optional<std::uint64_t>& marked, std::optional<std::uint64_t>& now, const std::optional<std::uint64_t>& configured,
            const char* what);

  TokenCounts configured_;
  std::vector<std::vector<std::pair<Ns, TokenCounts>>> changes_;  // by process
  std::set<std::string> contradicted_;
  std::vector<std::string> notes_;
};

}  // namespace nl::analysis
