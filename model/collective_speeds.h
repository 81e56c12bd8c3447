#pragma once

#include <cstdint>
#include <string>
#include <vector>

// How long collectives took, as NCCL Inspector writes it down: each rank of a communicator for itself.
namespace nl {

// Where a time is from.
enum class TimingSource : std::uint8_t { kUnknown, kGpuKernel, kCpuKernel, kCpuCall };

struct TimedCall {
  std::uint64_t sequence = 0;  // in its communicator
  double time_us = 0;
  float algorithm_gbs = 0, bus_gbs = 0;
};

// Calls of one kind and size, by one rank of one communicator.
struct TimedCalls {
  std::string communicator, name;                // its id, which all ranks share, and a name; empty: it has none
  std::uint32_t rank = 0, ranks = 0, nodes = 0;  // in the communicator
  std::string host;
  std::int64_t pid = 0;
  std::string kind;  // "AllReduce", "Send"
  bool point_to_point = false;
  std::uint64_t size_bytes = 0;
  TimingSource source = TimingSource::kUnknown;
  std::vector<TimedCall> calls;
};

struct InspectorFile {
  std::string file;
  std::vector<TimedCalls> series;
  std::uint64_t lines_damaged = 0;
};

// One rank of a communicator in calls of one kind and size.
struct RankSpeed {
  std::uint32_t rank = 0;
  std::string host;
  std::int64_t pid = 0;
  std::uint64_t calls = 0, shortest = 0;  // of the calls that all ranks have: in which its time was below all others'
  double median_us = 0, least_us = 0, most_us = 0;
  double algorithm_gbs = 0, bus_gbs = 0;  // medians
};

struct CollectiveSpeed {
  std::string communicator, name;
  std::uint32_t ranks = 0, nodes = 0;
  std::string kind;
  bool point_to_point = false;
  std::uint64_t size_bytes = 0;
  TimingSource source = TimingSource::kUnknown;
  std::uint64_t calls_of_all = 0;  // that every rank of the communicator has
  std::uint32_t absent = 0;        // of its ranks there is nothing
  std::vector<RankSpeed> by_rank;  // by rank
};

}  // namespace nl
