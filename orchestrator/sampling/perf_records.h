#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

// The records of a ring, as perf_event_open(2) describes them.
namespace nl::orchestrator::sampling {

inline constexpr std::uint64_t kSampleFields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
inline constexpr std::uint32_t kStackBytes = 16 * 1024;  // of the innermost part of a stack

struct PerfRecord {
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::uint32_t type = 0;
  std::uint16_t misc = 0;
  std::vector<unsigned char> body;
};

// Empty: a kind that is not looked at, or too short for what it says it is.
std::optional<PerfRecord> record_of(std::span<const unsigned char> bytes);

struct SampleRecord {
  std::uint32_t pid = 0, tid = 0;
  std::vector<std::uint64_t> registers;
  std::span<const unsigned char> stack;  // points into the record
};
std::optional<SampleRecord> sample_of(const PerfRecord& record, std::size_t registers);

struct MapRecord {
  std::uint32_t pid = 0;
  std::uint64_t start = 0, bytes = 0, file_offset = 0;
  std::string file;
};
std::optional<MapRecord> map_of(const PerfRecord& record);

struct TaskRecord {  // FORK and EXIT
  std::uint32_t pid = 0, parent = 0, tid = 0;
};
std::optional<TaskRecord> task_of(const PerfRecord& record);

std::optional<std::uint32_t> executed_by(const PerfRecord& record);  // COMM: the process that runs another program from here on

std::uint64_t lost_in(const PerfRecord& record);  // LOST: how many

}  // namespace nl::orchestrator::sampling
