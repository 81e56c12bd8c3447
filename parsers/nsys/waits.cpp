#include <algorithm>
#include <unordered_map>

#include "model/cuda_calls.h"
#include "parsers/nsys/tables.h"

namespace nl::parsers {
namespace {

constexpr const char* kSyncs = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";

namespace sync_column {
enum Column { kDevice, kContext, kStream, kCorrelation, kGlobalPid };
}

using ByCorrelation = std::unordered_map<std::uint64_t, const ApiCall*>;

std::uint64_t correlation_key(std::uint32_t process, std::uint32_t correlation) { return std::uint64_t{process} << 32 | correlation; }

// The calls that wait for a stream or a context.
ByCorrelation waiting_calls(const Trace& trace) {
  std::unordered_map<std::uint32_t, bool> waits;  // by name
  ByCorrelation calls;
  for (const ApiCall& call : trace.api_calls) {
    auto [known, added] = waits.try_emplace(call.name.value, false);
    if (added) {
      const SyncKind kind = cuda_call(trace.strings[call.name]).sync;
      known->second = kind == SyncKind::kStream || kind == SyncKind::kContext;
    }
    if (known->second && call.correlation != kNone && call.thread < trace.threads.size())
      calls.try_emplace(correlation_key(trace.threads[call.thread].process, call.correlation), &call);
  }
  return calls;
}

}  // namespace

// start end deviceId contextId greenContextId streamId correlationId globalPid deprecatedSyncType syncType eventId eventSyncId
// 19445645527 19445653608 0 1 NULL 7 151 281482509680640 NULL 2 4294967295 4294967295
// The call's name says what it waited for: syncType is 2 for cudaStreamSynchronize, which the export's own list of names calls a stream that
// waits for an event.
std::vector<SyncWait> read_waits(const NsysDatabase& database, const NsysPlaces& places, const Trace& trace) {
  std::vector<SyncWait> waits;
  if (!database.has_table(kSyncs)) return waits;
  const ByCorrelation calls = waiting_calls(trace);
  const std::vector<std::int64_t>& pids = places.global_pids();
  const auto process_of = [&](std::int64_t global_pid) {
    const auto found = std::find(pids.begin(), pids.end(), global_pid);
    return found == pids.end() ? kNone : static_cast<std::uint32_t>(found - pids.begin());
  };
  NsysRows row = database.select(kSyncs, {"deviceId", "contextId", "streamId", "correlationId", "globalPid"});
  while (row.next()) {
    if (row.is_null(sync_column::kCorrelation)) continue;
    const std::uint32_t process =
        row.is_null(sync_column::kGlobalPid) ? (pids.size() == 1 ? 0 : kNone) : process_of(row.integer(sync_column::kGlobalPid));
    const auto correlation = static_cast<std::uint32_t>(row.integer(sync_column::kCorrelation));
    const auto found = calls.find(correlation_key(process, correlation));
    if (found == calls.end()) continue;
    const ApiCall& call = *found->second;
    SyncWait wait;
    wait.start_ns = call.start_ns;
    wait.end_ns = call.end_ns();
    wait.where = {process, static_cast<std::int32_t>(row.integer(sync_column::kDevice)),
                  static_cast<std::uint32_t>(row.integer(sync_column::kContext)),
                  static_cast<std::uint32_t>(row.integer(sync_column::kStream))};
    wait.correlation = correlation;
    wait.kind = cuda_call(trace.strings[call.name]).sync;
    waits.push_back(wait);
  }
  return waits;
}

}  // namespace nl::parsers
