// The reports that are summed up while an export is read, against those that are made of a trace of it, which are nsys' to the byte.
#include "orchestrator/stat_tables.h"

#include <fmt/format.h>

#include "analysis/nsys_stats/reports.h"
#include "exporters/tables.h"
#include "parsers/nsys/sqlite.h"
#include "tests/unit/parsers/nsys/made_export.h"
#include "tests/unit/unpacked.h"

namespace {

using namespace nl;
using namespace nl::test;

std::vector<std::string> all_reports() {
  const auto& names = analysis::stats_report_names();
  return {names.begin(), names.end()};
}

std::string text_of(const StatTable& table) { return table.missing + "\n" + exporters::stat_csv(table); }

// How many of the reports have rows.
std::size_t check_same(const std::filesystem::path& file) {
  INFO(file.string());
  const Trace trace = parsers::read_nsys_sqlite(file);
  const orchestrator::StatTables together = orchestrator::read_stat_tables(file, all_reports());
  REQUIRE(together.tables.size() == all_reports().size());
  std::size_t made = 0;
  for (std::size_t i = 0; i < together.tables.size(); ++i) {
    const std::string report = all_reports()[i];
    INFO(report);
    const std::string expected = text_of(analysis::make_stats_report(trace, report));
    CHECK((text_of(together.tables[i]) == expected));
    CHECK(together.tables[i].report == report);
    CHECK((text_of(orchestrator::read_stat_tables(file, {report}).tables.at(0)) == expected));
    if (!together.tables[i].rows.empty()) ++made;
  }
  return made;
}

}  // namespace

TEST_CASE("reports that are summed up while an export is read are those of its trace") {
  const std::filesystem::path fixtures(NL_FIXTURES);
  std::size_t files = 0;
  for (const auto& each : std::filesystem::recursive_directory_iterator(fixtures)) {
    const std::string name = each.path().string();
    if (name.ends_with(".sqlite")) CHECK(check_same(each.path()) >= 3);
    else if (name.ends_with(".sqlite.gz")) CHECK(check_same(Unpacked(each.path()).file) >= 3);
    else continue;
    ++files;
  }
  CHECK(files >= 10);
}

TEST_CASE("reports that are summed up: two processes, rows without times, names or calls, and what is wrong with rows") {
  CraftedExport made;
  make_export(made);
  CHECK(check_same(made.file) == 6);
  DamagedRows damaged = parsers::read_nsys_sqlite(made.file, {.host = false}).stats.rows_damaged;
  CHECK(damaged.erase({Code::kEndsBeforeStart, {"graph run"}}) == 1);  // no report is about these
  CHECK((orchestrator::read_stat_tables(made.file, all_reports()).damaged == damaged));
  const DamagedRows of_kernels = orchestrator::read_stat_tables(made.file, {"cuda_gpu_kern_sum"}).damaged;
  CHECK(of_kernels.at({Code::kNoStartOrEnd, {"kernel"}}) == 2);
  CHECK(of_kernels.at({Code::kTooLong, {"kernel"}}) == 1);
  CHECK(of_kernels.at({Code::kNoName, {"kernel"}}) == 1);
  CHECK(of_kernels.size() == 3);
}

// Tables that several threads read. Ranges touch, overlap without one enclosing the other, share both times, cross calls and are never closed;
// calls launch several kernels or none, and some repeat a correlation of another process.
TEST_CASE("reports that are summed up: many rows on several threads, ranges of every kind") {
  for (const bool whose : {true, false}) {
    CraftedExport made;
    made.sql(kMadeTables);
    made.sql(fmt::format(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 59999) INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT "
        "1000 + i * 10, 1000 + i * 10 + CASE WHEN i % 97 = 0 THEN 700 ELSE i % 11 END, CASE i % 3 WHEN 0 THEN {0} WHEN 1 THEN {1} ELSE {2} "
        "END, "
        "CASE WHEN i % 50 = 7 THEN NULL ELSE i / 3 * 3 + CASE i % 3 WHEN 1 THEN 1 ELSE 0 END END, 10 + i % 5 FROM n;"
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 49999) INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL "
        "(start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName) SELECT 2000 + i * 12, 2000 + i * 12 + i * "
        "7919 % "
        "10007 + CASE WHEN i % 20011 = 5 THEN 5000000000 ELSE 0 END, 0, 1, 7, CASE WHEN i % 31 = 0 THEN NULL ELSE i / 4 * 4 + i % 2 END, "
        "CASE i % 5 WHEN 0 THEN {4} ELSE {3} END, 1 + i * i % 6 FROM n;"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind) "
        "SELECT start + 5, end + 9, 0, 1, 7, correlationId + 2, globalPid, 64, 1 FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid % 9 = 0;",
        global_tid(200, 21), global_tid(200, 22), global_tid(300, 31), global_tid(200, 0), global_tid(300, 0)));
    made.sql(
        fmt::format("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1999) INSERT INTO NVTX_EVENTS (start, end, "
                    "eventType, text, "
                    "globalTid, domainId) SELECT 1000 + i / 2 * 600, CASE WHEN i % 400 = 9 THEN NULL ELSE 1000 + i / 2 * 600 + CASE i % 4 "
                    "WHEN 0 THEN 600 WHEN 1 "
                    "THEN 300 WHEN 2 THEN 1500 ELSE 600 END END, CASE i % 7 WHEN 0 THEN 60 ELSE 59 END, 'step ' || (i % 5), "
                    "CASE i % 3 WHEN 0 THEN {0} WHEN 1 THEN {1} ELSE {2} END, 0 FROM n; INSERT INTO NVTX_EVENTS (start, end, eventType, "
                    "text, globalTid, "
                    "domainId) VALUES (0, 700000, 59, 'all', {0}, 0), (0, 700000, 59, 'all', {0}, 0), (5000, 400000, 60, 'half', {2}, 0)",
                    global_tid(200, 21), global_tid(200, 22), global_tid(300, 31)));
    if (!whose) made.sql("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN globalPid TO noPid");
    if (!whose) made.sql("DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE rowid % 3 = 0");  // else calls of two processes share correlations
    CHECK(check_same(made.file) == 6);
  }
}
