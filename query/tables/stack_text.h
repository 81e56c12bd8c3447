#pragma once

#include <string>
#include <vector>

#include "model/host_code.h"
#include "query/table.h"

namespace nl::query {

// Stacks of the host in words. A frame is put into words once.
class StackText {
 public:
  explicit StackText(const HostSamples& host);

  Value innermost(std::uint32_t stack) const;         // "forward (modeling_qwen3.py:245)"; NULL where there is no such stack
  const HostFrame* frame(std::uint32_t stack) const;  // the innermost; null where there is none
  std::string whole(std::uint32_t stack) const;       // outermost first, separated by "; "

 private:
  const std::vector<std::uint32_t>* frames_of(std::uint32_t stack) const;
  const HostSamples& host_;
  std::vector<std::string> texts_;  // by frame
};

}  // namespace nl::query
