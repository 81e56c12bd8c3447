#include "parsers/nsys/tables.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <tuple>

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

struct RawCall {
  Ns start_ns = 0, end_ns = 0;
  std::int64_t global_tid = 0;
  std::uint32_t correlation = kNone;
};

// One thread's share of the table: the durations of its calls by name, and what was wrong with rows.
class CallTimes {
 public:
  struct Name {
    std::int64_t id = 0;
    bool synchronises = false;
    Durations durations;
  };

  // start end eventClass globalTid correlationId nameId returnValue callchainId
  // 458114882 603411510 0 281485412139643 118 732 0 NULL
  // take(the call, a number in names)
  template <class Take>
  void read(const NsysDatabase& database, const RowSpan& span, Take take) {
    enum Column { kStart, kEnd, kGlobalTid, kCorrelation, kName, kColumns };
    NsysStrings strings(database, pool_);
    NsysRows table = database.select(kApiTable, {"start", "end", "globalTid", "correlationId", "nameId"}, span);
    sqlite_pages::NumberRows read(kColumns);
    for (; table.next(read); rows += read.size())
      for (std::size_t i = 0; i < read.size(); ++i) {
        if (read.nulls(i) & (1 << kStart | 1 << kEnd)) {
          ++no_time;
          continue;
        }
        RawCall call{read.column(kStart)[i], read.column(kEnd)[i], read.column(kGlobalTid)[i]};
        if (!packable(call.start_ns, call.end_ns)) {
          ++bad_time;
          continue;
        }
        if (!(read.nulls(i) & 1 << kCorrelation)) call.correlation = static_cast<std::uint32_t>(read.column(kCorrelation)[i]);
        const std::uint32_t name = name_number(read.column(kName)[i], strings);
        names[name].durations.add(call.end_ns - call.start_ns);
        take(call, name);
      }
  }
  void count(ImportStats& stats) const {
    stats.rows_read[kApiTable] += rows;
    if (no_time) stats.rows_damaged[{Code::kNoStartOrEnd, {"API call"}}] += no_time;
    if (bad_time) stats.rows_damaged[{Code::kTooLong, {"API call"}}] += bad_time;
  }

  std::vector<Name> names;
  std::uint64_t rows = 0, no_time = 0, bad_time = 0;

 private:
  std::uint32_t name_number(std::int64_t id, NsysStrings& strings) {
    const std::uint32_t number = ids_.of(id);
    if (number == names.size()) names.push_back({id, !cuda_call(pool_[strings.by_id(id)]).launches, {}});
    return number;
  }

  StringPool pool_;
  IdNumbers ids_;
};

struct ThreadSlot {
  std::int64_t global_tid = 0;
  const CorrelationMap* launches = nullptr;
  CallBlocks calls, other_calls;
};

// What one thread keeps of its share. Calls refer to its own names until they are merged.
class ApiPart {
 public:
  ApiPart(const Launches& launches, const std::vector<std::int64_t>& global_pids, bool all_calls)
      : launches_(launches), global_pids_(global_pids), all_calls_(all_calls) {}

  void read(const NsysDatabase& database, const RowSpan& span) {
    times.read(database, span, [&](const RawCall& raw, std::uint32_t name) { keep(raw, name); });
  }

  CallTimes times;
  std::vector<ThreadSlot> threads;

 private:
  void keep(const RawCall& raw, std::uint32_t name) {
    const std::uint32_t thread = thread_slot(raw.global_tid);
    const CorrelationMap* launched = threads[thread].launches;
    const bool launches = launched && raw.correlation != kNone && launched->contains(raw.correlation);
    const bool kept = launches || times.names[name].synchronises || all_calls_;
    if (!kept && raw.end_ns - raw.start_ns < kLongCallNs) return;
    ApiCall call;
    call.start_ns = raw.start_ns;
    call.duration_ns = static_cast<std::uint64_t>(raw.end_ns - raw.start_ns);
    call.name = StringId{name};
    call.correlation = raw.correlation;
    (kept ? threads[thread].calls : threads[thread].other_calls).push_back(call);
  }

  std::uint32_t thread_slot(std::int64_t global_tid) {
    const std::uint32_t slot = global_tids_.index_of(global_tid);
    if (slot == threads.size()) threads.push_back({global_tid, launches_of(global_tid), {}, {}});
    return slot;
  }

  const CorrelationMap* launches_of(std::int64_t global_tid) const {
    auto found = std::find(global_pids_.begin(), global_pids_.end(), process_part(global_tid));
    return launches_.of_process(found == global_pids_.end() ? kNone : static_cast<std::uint32_t>(found - global_pids_.begin()));
  }

  const Launches& launches_;
  const std::vector<std::int64_t>& global_pids_;
  bool all_calls_;
  Distinct<std::int64_t> global_tids_;
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
        call.name = names.at(part->times.names[call.name.value].id);
        calls.push_back(call);
      });
    sort_by_start(calls, first);
  }
}

std::map<std::int64_t, StringId> merge_names(const std::vector<CallTimes*>& parts, NsysStrings& strings, Trace& trace) {
  std::map<std::int64_t, StringId> names;
  std::map<std::int64_t, Durations> durations;
  for (CallTimes* part : parts) {
    part->count(trace.stats);
    for (CallTimes::Name& name : part->names) durations[name.id].append(std::move(name.durations));
  }
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
  std::vector<CallTimes*> times;
  for (ApiPart& part : parts) times.push_back(&part.times);
  const std::map<std::int64_t, StringId> names = merge_names(times, strings, trace);
  merge_calls(parts, names, places, &ThreadSlot::calls, trace, trace.api_calls);
  merge_calls(parts, names, places, &ThreadSlot::other_calls, trace, trace.other_calls);
}

void sum_api_calls(const NsysDatabase& database, const std::vector<RowSpan>& spans, const TakeCalls& take, bool whose, NsysStrings& strings,
                   NsysPlaces& places, Trace& trace) {
  std::vector<CallTimes> parts(spans.size());
  std::mutex mutex;  // of the places
  scan_in_parts(database, spans.size(), [&](const NsysDatabase& own, std::size_t part) {
    Distinct<std::int64_t> global_tids;
    std::vector<CallRow> threads;  // a row of each
    std::vector<CallRow> rows;
    parts[part].read(own, spans[part], [&](const RawCall& call, std::uint32_t) {
      if (!take) return;
      const std::uint32_t thread = global_tids.index_of(call.global_tid);
      if (thread == threads.size()) {
        const std::lock_guard lock(mutex);
        threads.emplace_back().thread = places.thread(call.global_tid);
        threads.back().process = whose ? places.process(process_part(call.global_tid)) : 0;
      }
      CallRow& row = rows.emplace_back(threads[thread]);
      row.start_ns = call.start_ns;
      row.end_ns = call.end_ns;
      row.correlation = call.correlation;
      if (rows.size() < sqlite_pages::NumberRows::kMost) return;
      take(part, rows);
      rows.clear();
    });
    if (take) take(part, rows);
  });
  std::vector<CallTimes*> times;
  for (CallTimes& part : parts) times.push_back(&part);
  merge_names(times, strings, trace);
}

}  // namespace nl::parsers
