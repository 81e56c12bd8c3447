#include "orchestrator/sampling/perf_records.h"

#include <algorithm>
#include <cstring>

#include "orchestrator/sampling/byte_cursor.h"

namespace nl::orchestrator::sampling {
namespace {

constexpr std::size_t kTrailerBytes = 16;  // process, thread and time, after every record that is not a sample

bool is_read(std::uint32_t type) {
  switch (type) {
    case PERF_RECORD_SAMPLE:
    case PERF_RECORD_MMAP2:
    case PERF_RECORD_COMM:
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
    case PERF_RECORD_LOST: return true;
    default: return false;
  }
}

}  // namespace

std::optional<PerfRecord> record_of(std::span<const unsigned char> bytes) {
  perf_event_header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::span<const unsigned char> body = bytes.subspan(sizeof header);
  if (!is_read(header.type) || body.size() < kTrailerBytes) return std::nullopt;
  PerfRecord out{0, header.type, header.misc, {}};
  // A sample has its time behind its thread, the others have it at their end.
  const bool sample = header.type == PERF_RECORD_SAMPLE;
  std::memcpy(&out.time_ns, body.data() + (sample ? 8 : body.size() - 8), sizeof out.time_ns);
  const auto kept = sample ? body : body.first(body.size() - kTrailerBytes);
  out.body.assign(kept.begin(), kept.end());
  return out;
}

std::optional<SampleRecord> sample_of(const PerfRecord& record, std::size_t registers) {
  ByteCursor from(record.body);
  SampleRecord out;
  out.pid = from.fixed<std::uint32_t>();
  out.tid = from.fixed<std::uint32_t>();
  from.skip(sizeof record.time_ns);
  if (from.fixed<std::uint64_t>() != PERF_SAMPLE_REGS_ABI_64) return std::nullopt;  // a kernel thread, or a program of 32 bits
  for (std::size_t i = 0; i < registers; ++i) out.registers.push_back(from.fixed<std::uint64_t>());
  const auto reserved = from.fixed<std::uint64_t>();
  const std::size_t at = from.at();
  from.skip(reserved);
  const std::uint64_t copied = reserved == 0 ? 0 : from.fixed<std::uint64_t>();
  if (!from.ok() || copied > reserved) return std::nullopt;
  out.stack = std::span(record.body).subspan(at, static_cast<std::size_t>(copied));
  return out;
}

std::optional<MapRecord> map_of(const PerfRecord& record) {
  constexpr std::uint64_t kDevice = 24, kProtection = 8;
  ByteCursor from(record.body);
  MapRecord out;
  out.pid = from.fixed<std::uint32_t>();
  from.skip(4);
  out.start = from.fixed<std::uint64_t>();
  out.bytes = from.fixed<std::uint64_t>();
  out.file_offset = from.fixed<std::uint64_t>();
  from.skip(kDevice + kProtection);
  if (!from.ok() || out.start + out.bytes < out.start) return std::nullopt;
  const auto name = std::span(record.body).subspan(from.at());
  out.file.assign(name.begin(), std::find(name.begin(), name.end(), 0));
  return out;
}

std::optional<TaskRecord> task_of(const PerfRecord& record) {
  ByteCursor from(record.body);
  TaskRecord out;
  out.pid = from.fixed<std::uint32_t>();
  out.parent = from.fixed<std::uint32_t>();
  out.tid = from.fixed<std::uint32_t>();
  return from.ok() ? std::optional(out) : std::nullopt;
}

std::optional<std::uint32_t> executed_by(const PerfRecord& record) {
  ByteCursor from(record.body);
  const auto pid = from.fixed<std::uint32_t>();
  return from.ok() && (record.misc & PERF_RECORD_MISC_COMM_EXEC) != 0 ? std::optional(pid) : std::nullopt;
}

std::uint64_t lost_in(const PerfRecord& record) {
  ByteCursor from(record.body);
  from.skip(8);
  return from.fixed<std::uint64_t>();
}

}  // namespace nl::orchestrator::sampling
