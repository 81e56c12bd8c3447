#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/detail/innermost.h"
#include "analysis/host/host_work.h"
#include "model/trace.h"

namespace nl::analysis {

// Lines of the program: where the workload marks them (the domain LLM.lines) that line, else that of the sample of the thread
// nearest to the moment, at most one period away.
class Sites {
 public:
  Sites(const Trace& trace, const std::vector<std::uint32_t>& ranges_by_start);

  std::uint32_t of(const WorkOrigin& origin);  // index into the list, or kNone
  std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::uint32_t number(const std::string& text);
  std::uint32_t sampled(const WorkOrigin& origin);

  const Trace& trace_;
  std::vector<std::uint32_t> line_of_range_;  // the range's name where it is a line
  InnermostItem lines_;
  HostWorks works_;
  std::vector<std::vector<std::uint32_t>> samples_;  // by thread
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace nl::analysis
