#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "model/codes.h"
#include "model/host_code.h"

namespace nl::parsers {

// One file of sampled stacks. Times are CLOCK_MONOTONIC of its machine.
struct StackFile {
  struct Cost {
    Ns time_ns = 0, cost_ns = 0;
    std::uint64_t lost = 0;
  };
  std::uint32_t pid = 0;  // by the file's name; 0: it has none
  HostSampler sampler = HostSampler::kPython;
  HostSamples host;
  std::optional<Cost> cost;    // the last one that it says
  std::optional<Ns> first_ns;  // the earliest time in it
  DamagedRows damaged;
};

// A file that is not of this kind holds nothing, and counts as damage.
StackFile read_stack_file(const std::filesystem::path& file);

}  // namespace nl::parsers
