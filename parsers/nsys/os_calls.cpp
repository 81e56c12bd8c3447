#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>

#include <fmt/core.h>

#include "parsers/nsys/tables.h"

namespace nl::parsers {
namespace {

constexpr const char* kTable = "OSRT_API";

enum Column { kStart, kEnd, kGlobalTid, kName };

// Most of a table of millions is short, so SQLite leaves that out. A nested call is part of the one around it.
std::string long_calls(const NsysDatabase& database) {
  const char* outermost = database.has_column(kTable, "nestingLevel") ? " AND coalesce(nestingLevel, 0) = 0" : "";
  return fmt::format("SELECT start, end, globalTid, nameId FROM {} WHERE end - start >= {}{}", kTable, kLongCallNs, outermost);
}

bool readable(const NsysDatabase& database) {
  return database.has_column(kTable, "start") && database.has_column(kTable, "end") && database.has_column(kTable, "globalTid") &&
         database.has_column(kTable, "nameId");
}

}  // namespace

// start end eventClass globalTid nameId returnValue nestingLevel callchainId
// 458114882 458203411 27 281485412139643 214 0 NULL 0
void read_os_calls(const NsysDatabase& database, NsysStrings& strings, const NsysPlaces& places, Trace& trace) {
  if (places.global_tids().empty() || !readable(database)) return;
  std::unordered_map<std::int64_t, std::uint32_t> threads;
  for (std::size_t i = 0; i < places.global_tids().size(); ++i) threads[places.global_tids()[i]] = static_cast<std::uint32_t>(i);
  trace.stats.rows_read[kTable] = database.rows_of(kTable).count;
  NsysRows row = database.query(long_calls(database));
  while (row.next()) {
    const auto thread = threads.find(row.integer(kGlobalTid));
    if (thread == threads.end()) continue;
    if (!packable(row.integer(kStart), row.integer(kEnd))) {
      ++trace.stats.rows_damaged[{Code::kTooLong, {"call of the operating system"}}];
      continue;
    }
    ApiCall call;
    call.start_ns = row.integer(kStart);
    call.duration_ns = static_cast<std::uint64_t>(row.integer(kEnd) - row.integer(kStart));
    call.thread = thread->second;
    call.name = strings.by_id(row.integer(kName));
    trace.os_calls.push_back(call);
  }
  std::sort(trace.os_calls.begin(), trace.os_calls.end(),
            [](const ApiCall& a, const ApiCall& b) { return std::pair(a.thread, a.start_ns) < std::pair(b.thread, b.start_ns); });
}

}  // namespace nl::parsers
