#include "parsers/nsys/tables.h"

#include <algorithm>
#include <unordered_map>

#include "parsers/rank_variables.h"

namespace nl::parsers {
namespace {

// EXPORT_SCHEMA_VERSION|3.20.3 (2025) or only EXPORT_SCHEMA_VERSION_MAJOR|3 and its kin.
void read_versions(const NsysDatabase& database, ImportStats& stats) {
  for (const char* table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
    if (!database.has_columns(table, {"name", "value"})) continue;
    std::map<std::string, std::string> facts;
    NsysRows row = database.select(table, {"name", "value"});
    while (row.next()) facts.emplace(row.text(0), row.text(1));
    stats.schema_version = facts["EXPORT_SCHEMA_VERSION"];
    if (stats.schema_version.empty() && facts.contains("EXPORT_SCHEMA_VERSION_MAJOR"))
      stats.schema_version =
          facts["EXPORT_SCHEMA_VERSION_MAJOR"] + "." + facts["EXPORT_SCHEMA_VERSION_MINOR"] + "." + facts["EXPORT_SCHEMA_VERSION_MICRO"];
    stats.tool_version = facts["EXPORT_PRODUCT_VERSION"];
  }
}

void read_gpus(const NsysDatabase& database, Trace& trace) {
  if (!database.has_table("TARGET_INFO_GPU")) {
    trace.stats.tables_absent.emplace_back("TARGET_INFO_GPU");
    return;
  }
  NsysRows row = database.select("TARGET_INFO_GPU", {"id", "name", "uuid", "busLocation", "chipName", "smCount", "clockRate", "totalMemory",
                                                     "memoryBandwidth", "l2CacheSize", "computeMajor", "computeMinor"});
  auto text = [&](int column) { return as_utf8(row.text(column)); };
  auto number = [&](int column) { return static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.integer(column))); };
  while (row.next()) {
    Device device;
    device.id = static_cast<std::int32_t>(row.integer(0));
    device.name = text(1);
    device.uuid = text(2);
    device.bus = text(3);
    device.chip = text(4);
    device.sm_count = static_cast<std::uint32_t>(number(5));
    device.clock_hz = number(6);
    device.memory_bytes = number(7);
    device.bandwidth_bytes_per_s = number(8);
    device.l2_bytes = number(9);
    device.compute_major = static_cast<std::uint32_t>(number(10));
    device.compute_minor = static_cast<std::uint32_t>(number(11));
    trace.devices.push_back(std::move(device));
  }
}

// META_DATA_CAPTURE: PROCESS_0:ENVIRONMENT_VARIABLE|RANK="3"; a capture whose environment was blanked tells no rank.
void read_rank(const NsysDatabase& database, Trace& trace) {
  if (database.has_columns("META_DATA_CAPTURE", {"name", "value"})) {
    RankVariables variables;
    NsysRows row = database.select("META_DATA_CAPTURE", {"name", "value"});
    while (row.next())
      if (row.text(0).ends_with("ENVIRONMENT_VARIABLE")) variables.add(row.text(1));
    trace.rank = variables.facts();
  }
  if (!database.has_columns("TARGET_INFO_SYSTEM_ENV", {"name", "value"})) return;
  NsysRows row = database.select("TARGET_INFO_SYSTEM_ENV", {"name", "value"});
  while (row.next())
    if (row.text(0) == "Hostname") trace.rank.host = as_utf8(row.text(1));
}

}  // namespace

void read_capture_facts(const NsysDatabase& database, Trace& trace) {
  read_versions(database, trace.stats);
  read_gpus(database, trace);
  read_rank(database, trace);
  if (database.has_table("TARGET_INFO_SESSION_START_TIME")) {
    NsysRows row = database.select("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"});
    if (row.next() && !row.is_null(0)) trace.utc_start_ns = row.integer(0);
  }
  if (database.has_table("ANALYSIS_DETAILS")) {
    NsysRows row = database.select("ANALYSIS_DETAILS", {"duration"});
    while (row.next()) trace.duration_ns = std::max(trace.duration_ns, row.integer(0));
    if (trace.duration_ns > 0) trace.session_end_ns = trace.duration_ns;
  }
}

void read_place_names(const NsysDatabase& database, NsysStrings& strings, const NsysPlaces& places, Trace& trace) {
  std::unordered_map<std::int64_t, std::size_t> processes, threads;
  for (std::size_t i = 0; i < places.global_pids().size(); ++i) processes.emplace(places.global_pids()[i], i);
  for (std::size_t i = 0; i < places.global_tids().size(); ++i) threads.emplace(places.global_tids()[i], i);
  if (database.has_table("PROCESSES")) {
    NsysRows row = database.select("PROCESSES", {"globalPid", "name"});
    while (row.next())
      if (auto found = processes.find(row.integer(0)); found != processes.end())
        trace.processes[found->second].name = trace.strings[strings.intern(row.text(1))];
  }
  if (!database.has_table("ThreadNames")) return;
  // A thread can have several names; the one of the highest priority is the one nsys shows.
  std::vector<std::int64_t> priority(trace.threads.size(), INT64_MIN);
  NsysRows row = database.select("ThreadNames", {"nameId", "priority", "globalTid"});
  while (row.next()) {
    auto found = threads.find(row.integer(2));
    if (found == threads.end() || row.integer(1) < priority[found->second]) continue;
    priority[found->second] = row.integer(1);
    trace.threads[found->second].name = trace.strings[strings.by_id(row.integer(0))];
  }
}

}  // namespace nl::parsers
