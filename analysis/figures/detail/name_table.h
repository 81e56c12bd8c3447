#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/codes.h"
#include "model/strings.h"
#include "model/trace.h"

namespace nl::analysis {

// The names of slices as they are shown, each once. A trace's strings are looked at once, however many slices have them.
class NameTable {
 public:
  explicit NameTable(const Trace& trace) : trace_(trace) {}

  std::uint32_t of(LaneKind kind, StringId name);
  std::uint32_t of(const std::string& shown);
  std::vector<std::string> take() { return std::move(names_); }

 private:
  const Trace& trace_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  // by kind and string
};

}  // namespace nl::analysis
