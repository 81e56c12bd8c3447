#include "parsers/nsys/tables.h"

#include <algorithm>
#include <memory>
#include <new>
#include <tuple>
#include <unordered_map>

#include <sys/mman.h>

#include "model/cuda_calls.h"
#include "model/error.h"

namespace nl::parsers {
namespace {

// API calls that are gathered before it is known how many there are. Never moves what is there, and while it is
// drained gives the memory back block by block: straight to the system, because the allocator would keep
// it and the calls would be in memory twice.
class CallBlocks {
 public:
  void push_back(const ApiCall& call) {
    if (few_.size() < kFew) {
      few_.push_back(call);
      return;
    }
    if (used_ == kBlock || blocks_.empty()) add_block();
    blocks_.back().get()[used_++] = call;
  }
  std::size_t size() const { return few_.size() + (blocks_.empty() ? 0 : (blocks_.size() - 1) * kBlock + used_); }

  template <typename Visit>
  void drain(Visit visit) {
    for (const ApiCall& call : few_) visit(call);
    for (auto& block : blocks_) {
      std::size_t count = &block == &blocks_.back() ? used_ : kBlock;
      for (std::size_t i = 0; i < count; ++i) visit(block.get()[i]);
      block.reset();
    }
    *this = CallBlocks();
  }

 private:
  static constexpr std::size_t kFew = 1024;  // most threads have no more
  static constexpr std::size_t kBlock = 32768;
  struct Unmap {
    void operator()(ApiCall* calls) const { ::munmap(calls, kBlock * sizeof(ApiCall)); }
  };

  void add_block() {
    void* memory = ::mmap(nullptr, kBlock * sizeof(ApiCall), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    blocks_.emplace_back(static_cast<ApiCall*>(memory));
    used_ = 0;
  }

  std::vector<ApiCall> few_;
  std::vector<std::unique_ptr<ApiCall, Unmap>> blocks_;
  std::size_t used_ = 0;  // of the last block
};

constexpr const char* kApiTable = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr std::size_t kMaxThreads = 1 << 20;  // what ApiCall::thread can tell apart

namespace api_column {
enum Column { kStart, kEnd, kGlobalTid, kCorrelation, kName };
}

struct NameSlot {
  std::int64_t id = 0;
  bool synchronises = false;
  Durations durations;
};

struct ThreadSlot {
  std::int64_t global_tid = 0;
  const CorrelationMap* launches = nullptr;
  CallBlocks calls, other_calls;
};

// One thread's share of the table. Calls refer to its own name slots until they are merged.
class ApiPart {
 public:
  ApiPart(const Launches& launches, const std::vector<std::int64_t>& global_pids, bool all_calls)
      : launches_(launches), global_pids_(global_pids), all_calls_(all_calls) {}

  // start end eventClass globalTid correlationId nameId returnValue callchainId
  // 458114882 603411510 0 281485412139643 118 732 0 NULL
  void read(const NsysDatabase& database, const RowSpan& span) {
    NsysStrings strings(database, pool_);
    NsysRows row = database.select(kApiTable, {"start", "end", "globalTid", "correlationId", "nameId"}, span);
    while (row.next()) {
      ++rows;
      if (row.is_null(api_column::kStart) || row.is_null(api_column::kEnd)) {
        ++no_time;
        continue;
      }
      Ns start = row.integer(api_column::kStart), end = row.integer(api_column::kEnd);
      if (!packable(start, end)) {
        ++bad_time;
        continue;
      }
      std::uint32_t name = name_slot(row.integer(api_column::kName), strings);
      names[name].durations.add(end - start);
      std::uint32_t thread = thread_slot(row.integer(api_column::kGlobalTid));
      auto correlation = row.is_null(api_column::kCorrelation) ? kNone : static_cast<std::uint32_t>(row.integer(api_column::kCorrelation));
      const CorrelationMap* launched = threads[thread].launches;
      bool launches = launched && correlation != kNone && launched->contains(correlation);
      const bool kept = launches || names[name].synchronises || all_calls_;
      if (!kept && end - start < kLongCallNs) continue;
      ApiCall call;
      call.start_ns = start;
      call.duration_ns = static_cast<std::uint64_t>(end - start);
      call.name = StringId{name};
      call.correlation = correlation;
      (kept ? threads[thread].calls : threads[thread].other_calls).push_back(call);
    }
  }

  std::vector<NameSlot> names;
  std::vector<ThreadSlot> threads;
  std::uint64_t rows = 0, no_time = 0, bad_time = 0;

 private:
  std::uint32_t name_slot(std::int64_t id, NsysStrings& strings) {
    constexpr std::int64_t kSmall = 1 << 16;
    bool small = id >= 0 && id < kSmall;
    if (small && static_cast<std::size_t>(id) < small_name_slots_.size() && small_name_slots_[id] != kNone) return small_name_slots_[id];
    auto [found, added] = name_slots_.try_emplace(id, static_cast<std::uint32_t>(names.size()));
    if (added) names.push_back({id, !cuda_call(pool_[strings.by_id(id)]).launches, {}});
    if (small) {
      if (static_cast<std::size_t>(id) >= small_name_slots_.size()) small_name_slots_.resize(id + 1, kNone);
      small_name_slots_[id] = found->second;
    }
    return found->second;
  }

  std::uint32_t thread_slot(std::int64_t global_tid) {
    if (last_thread_ < threads.size() && threads[last_thread_].global_tid == global_tid) return last_thread_;
    auto [found, added] = thread_slots_.try_emplace(global_tid, static_cast<std::uint32_t>(threads.size()));
    if (added) threads.push_back({global_tid, launches_of(global_tid), {}, {}});
    return last_thread_ = found->second;
  }

  const CorrelationMap* launches_of(std::int64_t global_tid) const {
    auto found = std::find(global_pids_.begin(), global_pids_.end(), process_part(global_tid));
    return launches_.of_process(found == global_pids_.end() ? kNone : static_cast<std::uint32_t>(found - global_pids_.begin()));
  }

  StringPool pool_;
  const Launches& launches_;
  const std::vector<std::int64_t>& global_pids_;
  bool all_calls_;
  std::unordered_map<std::int64_t, std::uint32_t> name_slots_, thread_slots_;
  std::uint32_t last_thread_ = 0;
  std::vector<std::uint32_t> small_name_slots_;  // by name id, for the low ids that exports use
};

void sort_by_start(std::vector<ApiCall>& calls, std::size_t first) {
  auto begin = calls.begin() + static_cast<std::ptrdiff_t>(first);
  auto earlier = [](const ApiCall& a, const ApiCall& b) {
    return std::tie(a.start_ns, a.correlation) < std::tie(b.start_ns, b.correlation);
  };
  if (!std::is_sorted(begin, calls.end(), earlier)) std::sort(begin, calls.end(), earlier);
}

// By thread and start. The table is in the order of time, so each thread's calls only have to be put together.
void merge_calls(std::vector<ApiPart>& parts, const std::map<std::int64_t, StringId>& names, NsysPlaces& places,
                 CallBlocks ThreadSlot::* which, Trace& trace, std::vector<ApiCall>& calls) {
  std::map<std::uint32_t, std::vector<std::pair<ApiPart*, CallBlocks*>>> by_thread;
  std::size_t total = 0;
  for (auto& part : parts)
    for (ThreadSlot& slot : part.threads) {
      by_thread[places.thread(slot.global_tid)].emplace_back(&part, &(slot.*which));
      total += (slot.*which).size();
    }
  if (trace.threads.size() > kMaxThreads)
    throw Error(ErrorKind::kInput, "the capture has more than 1,048,576 threads", kApiTable, "capture a shorter stretch of the run");
  calls.reserve(total);
  for (auto& [thread, pieces] : by_thread) {
    std::size_t first = calls.size();
    for (auto& [part, blocks] : pieces)
      blocks->drain([&, part = part, thread = thread](ApiCall call) {
        call.thread = thread;
        call.name = names.at(part->names[call.name.value].id);
        calls.push_back(call);
      });
    sort_by_start(calls, first);
  }
}

std::map<std::int64_t, StringId> merge_names(std::vector<ApiPart>& parts, NsysStrings& strings, Trace& trace) {
  std::map<std::int64_t, StringId> names;
  std::map<std::int64_t, Durations> durations;
  for (auto& part : parts)
    for (NameSlot& slot : part.names) durations[slot.id].append(std::move(slot.durations));
  for (auto& [id, times] : durations) {
    std::string name(call_name_in_nsys(trace.strings[strings.by_id(id)]));
    names[id] = trace.strings.intern(name);
    trace.api_stats.push_back({names[id], std::move(times)});
  }
  return names;
}

}  // namespace

void read_api_calls(const NsysDatabase& database, const Launches& launches, NsysStrings& strings, NsysPlaces& places, Trace& trace,
                    bool all_calls) {
  RowSpan span = database.rows_of(kApiTable);
  std::vector<RowSpan> spans = database.split(kApiTable, span, parts_for(span.count));
  std::vector<ApiPart> parts;
  for (std::size_t i = 0; i < spans.size(); ++i) parts.emplace_back(launches, places.global_pids(), all_calls);
  scan_in_parts(database, spans.size(), [&](const NsysDatabase& own, std::size_t i) { parts[i].read(own, spans[i]); });
  for (const ApiPart& part : parts) {
    trace.stats.rows_read[kApiTable] += part.rows;
    if (part.no_time) trace.stats.rows_damaged[{Code::kNoStartOrEnd, {"API call"}}] += part.no_time;
    if (part.bad_time) trace.stats.rows_damaged[{Code::kTooLong, {"API call"}}] += part.bad_time;
  }
  std::map<std::int64_t, StringId> names = merge_names(parts, strings, trace);
  merge_calls(parts, names, places, &ThreadSlot::calls, trace, trace.api_calls);
  merge_calls(parts, names, places, &ThreadSlot::other_calls, trace, trace.other_calls);
}

}  // namespace nl::parsers
