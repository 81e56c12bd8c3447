#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/trace.h"

// Bookkeeping shared by the readers of the nsys tables.
namespace nl::parsers {

// hardware (8 bits) | virtual machine (8) | process (24) | thread (24)
constexpr std::int64_t process_part(std::int64_t global_tid) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(global_tid) & 0xFFFFFFFFFF000000ULL);
}

inline constexpr std::int64_t kNoProcess = INT64_MIN;  // the row does not say which

// Whether the times make a duration that fits a packed row.
constexpr bool packable(Ns start, Ns end) {
  return end >= start && static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start) <= std::uint64_t{kMaxPackedDurationNs};
}

// Where a GPU row ran, as the export writes it.
struct RawQueue {
  std::int64_t global_pid = 0;
  std::int32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  bool operator==(const RawQueue&) const = default;
};

// What a kernel row says of the kernel: names are ids into StringIds, -1 where there is none.
struct RawShape {
  std::int64_t name = -1, short_name = -1, mangled_name = -1;
  Dim3 grid, block;
  std::uint32_t registers = 0, static_shared = 0, dynamic_shared = 0;
  bool operator==(const RawShape&) const = default;
};

// A node of a CUDA graph: ids are of the process.
struct RawNode {
  std::int64_t global_pid = 0;
  std::int64_t id = 0;
  bool operator==(const RawNode&) const = default;
};

constexpr std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  seed = (seed ^ value) * 0x9E3779B97F4A7C15ULL;
  return seed ^ seed >> 32;
}

struct RawHash {
  std::size_t operator()(std::int64_t id) const { return mix(0, static_cast<std::uint64_t>(id)); }
  std::size_t operator()(const RawQueue& q) const {
    return mix(mix(static_cast<std::uint64_t>(q.global_pid), static_cast<std::uint64_t>(q.device) << 32 | q.context), q.stream);
  }
  std::size_t operator()(const RawNode& n) const { return mix(static_cast<std::uint64_t>(n.global_pid), static_cast<std::uint64_t>(n.id)); }
  std::size_t operator()(const RawShape& s) const {
    std::uint64_t names = static_cast<std::uint64_t>(s.name) ^ static_cast<std::uint64_t>(s.mangled_name) << 32;
    std::uint64_t hash = mix(names, static_cast<std::uint64_t>(s.grid.x) << 32 | s.block.x);
    hash = mix(hash, static_cast<std::uint64_t>(s.grid.y) << 32 | s.grid.z);
    return mix(hash, static_cast<std::uint64_t>(s.block.y) << 32 | (s.dynamic_shared ^ s.block.z));
  }
};

// Distinct values in the order in which they were met.
template <typename Raw>
class Distinct {
 public:
  std::uint32_t index_of(const Raw& raw) {
    if (last_ < values_.size() && values_[last_] == raw) return last_;
    std::size_t at = place_of(raw);
    if (index_[at] == kNone) {
      if ((values_.size() + 1) * 2 > index_.size()) {
        grow();
        at = place_of(raw);
      }
      index_[at] = static_cast<std::uint32_t>(values_.size());
      values_.push_back(raw);
    }
    return last_ = index_[at];
  }
  const std::vector<Raw>& values() const { return values_; }

 private:
  // Where it is, or the free place where it belongs.
  std::size_t place_of(const Raw& raw) const {
    std::size_t at = RawHash()(raw) & (index_.size() - 1);
    while (index_[at] != kNone && !(values_[index_[at]] == raw)) at = (at + 1) & (index_.size() - 1);
    return at;
  }
  void grow() {
    index_.assign(index_.size() * 2, kNone);
    for (std::uint32_t i = 0; i < values_.size(); ++i) index_[place_of(values_[i])] = i;
  }

  std::vector<Raw> values_;
  std::vector<std::uint32_t> index_ = std::vector<std::uint32_t>(16, kNone);  // a hash table; its size is a power of two
  std::uint32_t last_ = 0;
};

// Ids of strings in the order in which they were met: those that exports use are low.
class IdNumbers {
 public:
  std::uint32_t of(std::int64_t id) {
    if (static_cast<std::uint64_t>(id) < low_.size() && low_[static_cast<std::size_t>(id)] != kNone)
      return low_[static_cast<std::size_t>(id)];
    const std::uint32_t number = all_.index_of(id);
    if (id < 0 || id >= kLow) return number;
    if (static_cast<std::size_t>(id) >= low_.size()) low_.resize(static_cast<std::size_t>(id) + 1, kNone);
    return low_[static_cast<std::size_t>(id)] = number;
  }

 private:
  static constexpr std::int64_t kLow = 1 << 16;
  Distinct<std::int64_t> all_;
  std::vector<std::uint32_t> low_;  // by id
};

// Processes, threads and queues of the trace by the numbers that the export gives them.
class NsysPlaces {
 public:
  explicit NsysPlaces(Trace& trace) : trace_(trace) {}

  std::uint32_t process(std::int64_t global_pid);
  std::uint32_t thread(std::int64_t global_tid);
  std::uint32_t queue(const RawQueue& raw);
  // By process index: its global id.
  const std::vector<std::int64_t>& global_pids() const { return global_pids_; }
  const std::vector<std::int64_t>& global_tids() const { return global_tids_; }

 private:
  Trace& trace_;
  std::unordered_map<std::int64_t, std::uint32_t> processes_, threads_;
  std::map<Queue, std::uint32_t> queues_;
  std::vector<std::int64_t> global_pids_, global_tids_;
};

}  // namespace nl::parsers
