#include "parsers/nsys/tables.h"

#include <algorithm>
#include <map>
#include <utility>

namespace nl::parsers {
namespace {

constexpr const char* kRangeTable = "NVTX_EVENTS";

namespace range_column {
enum Column { kStart, kEnd, kType, kText, kGlobalTid, kEndGlobalTid, kTextId, kDomain, kPayload };
}

enum EventType { kMark = 34, kPushPop = 59, kStartEnd = 60, kTextPushPop = 70, kTextStartEnd = 71, kDomainCreate = 75 };

// Domains are numbered per process. nsys compares only the 24 bits of the pid here.
using DomainKey = std::pair<std::int64_t, std::int64_t>;

class RangeReader {
 public:
  RangeReader(NsysStrings& strings, NsysPlaces& places, Trace& trace) : strings_(strings), places_(places), trace_(trace) {}

  // start end eventType text globalTid endGlobalTid textId domainId …
  // 603766700 604066700 59 'prefill' 281485412139643 NULL NULL 1
  void read(NsysRows& row) {
    auto& read = trace_.stats.rows_read[kRangeTable];
    while (row.next()) {
      ++read;
      read_row(row);
    }
  }

  void finish() {
    Ns capture_end = std::max(trace_.duration_ns, trace_.last_range_event_ns.value_or(0));
    for (Range& range : trace_.ranges) {
      range.domain = domain_name(range.domain.value);
      if (range.open) range.end_ns = capture_end;
    }
    for (Mark& mark : trace_.marks) mark.domain = domain_name(mark.domain.value);
  }

 private:
  void read_row(const NsysRows& row) {
    if (row.is_null(range_column::kStart)) {
      ++trace_.stats.rows_damaged[{Code::kNoStart, {"range or mark"}}];
      return;
    }
    Ns start = row.integer(range_column::kStart);
    trace_.last_range_event_ns = std::max(
        {trace_.last_range_event_ns.value_or(start), start, row.is_null(range_column::kEnd) ? start : row.integer(range_column::kEnd)});
    switch (row.integer(range_column::kType)) {
      case kPushPop:
      case kStartEnd:
      case kTextPushPop:
      case kTextStartEnd: return read_range(row);
      case kMark:
        trace_.marks.push_back(
            {start, name_of(row), StringId{domain_slot(domain_of(row))}, places_.thread(row.integer(range_column::kGlobalTid))});
        return;
      case kDomainCreate: {
        auto [found, added] = domains_.try_emplace(domain_of(row), start, name_of(row));
        if (!added && start < found->second.first) found->second = {start, name_of(row)};
        return;
      }
      default: return;
    }
  }

  void read_range(const NsysRows& row) {
    Range range;
    range.start_ns = row.integer(range_column::kStart);
    range.open = row.is_null(range_column::kEnd);
    range.end_ns = range.open ? range.start_ns : row.integer(range_column::kEnd);
    if (range.end_ns < range.start_ns) {
      ++trace_.stats.rows_damaged[{Code::kEndsBeforeStart, {"range"}}];
      return;
    }
    auto type = row.integer(range_column::kType);
    range.style = type == kPushPop || type == kTextPushPop ? RangeStyle::kPushPop : RangeStyle::kStartEnd;
    range.name = name_of(row);
    range.domain = StringId{domain_slot(domain_of(row))};
    range.thread = places_.thread(row.integer(range_column::kGlobalTid));
    if (!row.is_null(range_column::kEndGlobalTid)) range.end_thread = places_.thread(row.integer(range_column::kEndGlobalTid));
    for (int column = range_column::kPayload; column < range_column::kPayload + 4 && !range.payload; ++column)
      if (!row.is_null(column)) range.payload = row.integer(column);
    trace_.ranges.push_back(range);
  }

  StringId name_of(const NsysRows& row) {
    if (!row.is_null(range_column::kTextId))
      if (auto registered = strings_.find(row.integer(range_column::kTextId))) return *registered;
    return strings_.intern(row.text(range_column::kText));
  }

  DomainKey domain_of(const NsysRows& row) const {
    return {row.integer(range_column::kDomain), row.integer(range_column::kGlobalTid) >> 24 & 0xFFFFFF};
  }

  std::uint32_t domain_slot(const DomainKey& key) {
    auto [found, added] = slots_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
    if (added) keys_.push_back(key);
    return found->second;
  }

  StringId domain_name(std::uint32_t slot) const {
    auto found = domains_.find(keys_[slot]);
    return found == domains_.end() ? StringId() : found->second.second;
  }

  NsysStrings& strings_;
  NsysPlaces& places_;
  Trace& trace_;
  std::map<DomainKey, std::uint32_t> slots_;
  std::vector<DomainKey> keys_;                           // by slot
  std::map<DomainKey, std::pair<Ns, StringId>> domains_;  // the earliest creation
};

}  // namespace

void read_ranges(const NsysDatabase& database, NsysStrings& strings, NsysPlaces& places, Trace& trace) {
  RangeReader reader(strings, places, trace);
  NsysRows row = database.select(kRangeTable, {"start", "end", "eventType", "text", "globalTid", "endGlobalTid", "textId", "domainId",
                                               "int64Value", "uint64Value", "int32Value", "uint32Value"});
  reader.read(row);
  reader.finish();
}

}  // namespace nl::parsers
