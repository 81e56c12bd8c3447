#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/trace.h"

namespace nl::parsers {

// Joins the GPU's work to the calls that launched it, once all events were read: in the file the kernel stands
// before its call. Until join() the field `api` of work holds its correlation id.
class KinetoLinks {
 public:
  explicit KinetoLinks(Trace& trace) : trace_(trace) {}

  void add_call(Ns start_ns, Ns duration_ns, std::uint32_t thread, StringId name, std::optional<std::int64_t> correlation);
  static std::uint32_t correlation(std::optional<std::int64_t> id);
  // Sorts the calls, keeps those that launched work or waited for it, and links.
  void join();

 private:
  void keep_calls();
  std::uint32_t call_of(std::uint32_t correlation) const;

  Trace& trace_;
  std::unordered_map<std::uint32_t, std::size_t> stats_;    // name → api_stats
  std::unordered_map<std::uint32_t, std::uint32_t> calls_;  // correlation → api_calls; kNone: several processes use it
  std::uint64_t ambiguous_ = 0;
};

}  // namespace nl::parsers
