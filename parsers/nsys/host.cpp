#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/function_name.h"
#include "parsers/nsys/tables.h"
#include "parsers/stacks/stacks.h"

namespace nl::parsers {
namespace {

constexpr const char* kSamples = "COMPOSITE_EVENTS";
constexpr const char* kChains = "SAMPLING_CALLCHAINS";
constexpr const char* kNoSymbol = "(no symbol)";

enum SampleColumn { kId, kTime, kGlobalTid };
enum ChainColumn { kSample, kSymbol, kModule, kUnresolved, kSpecial, kDepth };

// Entries that nsys adds where it lost its way.
bool is_frame(std::string_view module) { return module != "[Broken backtraces]" && module != "[Unknown]" && module != "[Max depth]"; }

struct Taken {
  std::int64_t id = 0;
  HostSample sample;
};

// Samples of the threads that call CUDA, by id.
std::vector<Taken> taken_samples(const NsysDatabase& database, const NsysPlaces& places, Trace& trace) {
  std::map<std::int64_t, const Thread*> threads;
  for (std::size_t i = 0; i < places.global_tids().size(); ++i) threads[places.global_tids()[i]] = &trace.threads[i];
  std::vector<Taken> taken;
  NsysRows row = database.select(kSamples, {"id", "start", "globalTid"});
  auto& read = trace.stats.rows_read[kSamples];
  while (row.next()) {
    ++read;
    const auto thread = threads.find(row.integer(kGlobalTid));
    if (row.is_null(kId) || row.is_null(kTime) || thread == threads.end()) continue;
    taken.push_back({row.integer(kId), {row.integer(kTime), trace.processes[thread->second->process].pid, thread->second->tid, kNone}});
  }
  std::sort(taken.begin(), taken.end(), [](const Taken& a, const Taken& b) { return a.id < b.id; });
  return taken;
}

// Rows of one sample stand together, the innermost frame at depth 0.
class ChainReader {
 public:
  ChainReader(std::vector<Taken>& taken, NsysStrings& strings, Trace& trace)
      : taken_(taken), strings_(strings), trace_(trace), host_(trace.host) {}

  void add(const NsysRows& row) {
    if (row.integer(kSample) != id_) {
      finish();
      begin(row.integer(kSample));
    }
    if (current_ == nullptr || row.integer(kSpecial) != 0) return;
    if (const auto frame = frame_of(row)) chain_.emplace_back(row.integer(kDepth), *frame);
  }

  void finish() {
    if (current_ == nullptr || chain_.empty()) return;
    std::sort(chain_.begin(), chain_.end(), std::greater<>());
    std::vector<std::uint32_t> stack;
    for (const auto& [depth, frame] : chain_) stack.push_back(frame);
    const auto [known, added] = stacks_.try_emplace(stack, static_cast<std::uint32_t>(host_.stacks.size()));
    if (added) host_.stacks.push_back(std::move(stack));
    current_->sample.stack = known->second;
    chain_.clear();
  }

 private:
  void begin(std::int64_t id) {
    id_ = id;
    const auto found =
        std::lower_bound(taken_.begin(), taken_.end(), id, [](const Taken& each, std::int64_t key) { return each.id < key; });
    current_ = found != taken_.end() && found->id == id && found->sample.stack == kNone ? &*found : nullptr;
  }

  // Frames without a symbol are one for each library: their addresses say nothing to a reader.
  std::optional<std::uint32_t> frame_of(const NsysRows& row) {
    const bool unresolved = row.integer(kUnresolved) != 0;
    const std::pair key(unresolved ? -1 : row.integer(kSymbol), row.integer(kModule));
    const auto [known, added] = frames_.try_emplace(key, std::nullopt);
    if (!added) return known->second;
    const std::string module(trace_.strings[strings_.by_id(key.second)]);
    if (!is_frame(module)) return std::nullopt;
    HostFrame frame;
    frame.function = unresolved ? kNoSymbol : plain_function_name(trace_.strings[strings_.by_id(key.first)]);
    frame.file = module;
    known->second = static_cast<std::uint32_t>(host_.frames.size());
    host_.frames.push_back(std::move(frame));
    return known->second;
  }

  std::vector<Taken>& taken_;
  NsysStrings& strings_;
  Trace& trace_;
  HostSamples& host_;
  std::optional<std::int64_t> id_;
  Taken* current_ = nullptr;                                   // nullptr: of a thread that does not matter, or read before
  std::vector<std::pair<std::int64_t, std::uint32_t>> chain_;  // depth, frame
  std::map<std::pair<std::int64_t, std::int64_t>, std::optional<std::uint32_t>> frames_;  // symbol, module
  std::map<std::vector<std::uint32_t>, std::uint32_t> stacks_;
};

constexpr const char* kOsCalls = "OSRT_API";

enum CallColumn { kCallStart, kCallEnd, kCallThread, kCallName, kCallNesting };

// Most of a table of millions is short. A nested call is part of the one around it.
bool is_long_call(const NsysRows& row) {
  if (row.is_null(kCallStart) || row.is_null(kCallEnd) || row.integer(kCallNesting) != 0) return false;
  Ns duration = 0;
  const bool overflows = __builtin_sub_overflow(row.integer(kCallEnd), row.integer(kCallStart), &duration);
  return overflows ? row.integer(kCallEnd) > 0 : duration >= kLongCallNs;
}

}  // namespace

// COMPOSITE_EVENTS:    id start cpu threadState globalTid cpuCycles
//                      259 57490814 6 1 281494941598886 1
// SAMPLING_CALLCHAINS: id symbol module kernelMode thumbCode unresolved specialEntry originalIP unwindMethod stackDepth
//                      259 812 813 0 0 0 NULL 6253713 7 0
void read_host_samples(const NsysDatabase& database, NsysStrings& strings, const NsysPlaces& places, Trace& trace) {
  if (places.global_tids().empty() || !database.has_columns(kSamples, {"id", "start", "globalTid"}) ||
      !database.has_columns(kChains, {"id", "symbol", "module", "stackDepth"}))
    return;
  std::vector<Taken> taken = taken_samples(database, places, trace);
  if (taken.empty()) return;
  NsysRows row = database.select(kChains, {"id", "symbol", "module", "unresolved", "specialEntry", "stackDepth"});
  ChainReader reader(taken, strings, trace);
  auto& read = trace.stats.rows_read[kChains];
  for (; row.next(); ++read) reader.add(row);
  reader.finish();
  HostSamples& host = trace.host;
  for (const Taken& each : taken)
    if (each.sample.stack != kNone) host.samples.push_back(each.sample);
  host.lost = taken.size() - host.samples.size();
  order_samples(host);
  if (!host.samples.empty()) host.sampler = HostSampler::kNsys;
}

// start end eventClass globalTid nameId returnValue nestingLevel callchainId
// 458114882 458203411 27 281485412139643 214 0 NULL 0
void read_os_calls(const NsysDatabase& database, NsysStrings& strings, const NsysPlaces& places, Trace& trace) {
  if (places.global_tids().empty() || !database.has_columns(kOsCalls, {"start", "end", "globalTid", "nameId"})) return;
  std::unordered_map<std::int64_t, std::uint32_t> threads;
  for (std::size_t i = 0; i < places.global_tids().size(); ++i) threads[places.global_tids()[i]] = static_cast<std::uint32_t>(i);
  trace.stats.rows_read[kOsCalls] = database.rows_of(kOsCalls).count;
  NsysRows row = database.select(kOsCalls, {"start", "end", "globalTid", "nameId", "nestingLevel"});
  while (row.next()) {
    if (!is_long_call(row)) continue;
    const auto thread = threads.find(row.integer(kCallThread));
    if (thread == threads.end()) continue;
    if (!packable(row.integer(kCallStart), row.integer(kCallEnd))) {
      ++trace.stats.rows_damaged[{Code::kTooLong, {"call of the operating system"}}];
      continue;
    }
    ApiCall call;
    call.start_ns = row.integer(kCallStart);
    call.duration_ns = static_cast<std::uint64_t>(row.integer(kCallEnd) - row.integer(kCallStart));
    call.thread = thread->second;
    call.name = strings.by_id(row.integer(kCallName));
    trace.os_calls.push_back(call);
  }
  std::sort(trace.os_calls.begin(), trace.os_calls.end(),
            [](const ApiCall& a, const ApiCall& b) { return std::pair(a.thread, a.start_ns) < std::pair(b.thread, b.start_ns); });
}

}  // namespace nl::parsers
