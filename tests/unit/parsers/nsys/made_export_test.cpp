// An export with every column that is read. What is in it, line by line: golden/traces/nsys_made.txt.
#include "tests/unit/parsers/nsys/made_export.h"
#include "parsers/nsys/sqlite.h"

using namespace nl;
using nl::parsers::read_nsys_sqlite;

TEST_CASE("nsys: whatever ends last ends the capture, and what was never closed in it") {
  const auto duration_after = [](const std::string& statements) {
    test::CraftedExport made;
    test::make_export(made);
    made.sql("DROP TABLE ANALYSIS_DETAILS;" + statements);
    const Trace trace = read_nsys_sqlite(made.file);
    CHECK_FALSE(trace.session_end_ns);
    Ns open_end_ns = 0;
    for (const Range& range : trace.ranges)
      if (range.open) open_end_ns = range.end_ns;
    CHECK(open_end_ns == trace.duration_ns);
    return trace.duration_ns;
  };
  CHECK(duration_after("") == 1900);  // the range
  CHECK(duration_after("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 5000 WHERE start = 1000") == 5000);
  CHECK(duration_after("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET end = 5001 WHERE start = 1010") == 5001);
  CHECK(duration_after("UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET end = 5002 WHERE start = 1080") == 5002);
  CHECK(duration_after("UPDATE CUPTI_ACTIVITY_KIND_GRAPH_TRACE SET end = 5003 WHERE start = 1200") == 5003);
  CHECK(duration_after("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = 5004 WHERE start = 950") == 5004);
  CHECK(duration_after("UPDATE NVTX_EVENTS SET start = 5005 WHERE eventType = 34") == 5005);
  CHECK(duration_after("UPDATE NVTX_EVENTS SET end = 5006 WHERE eventType = 33") == 5006);
}

TEST_CASE("nsys: a table that is not there is told, and so is what could not have been recorded") {
  const auto without = [](const std::string& table) {
    test::CraftedExport made;
    test::make_export(made);
    made.sql("DROP TABLE " + table);
    Trace trace = read_nsys_sqlite(made.file);
    CHECK(trace.stats.tables_absent == std::vector<std::string>{table});
    return trace;
  };
  const Trace kernels = without("CUPTI_ACTIVITY_KIND_KERNEL"), copies = without("CUPTI_ACTIVITY_KIND_MEMCPY"),
              sets = without("CUPTI_ACTIVITY_KIND_MEMSET");
  CHECK_FALSE(kernels.has_kernel_data);
  CHECK(kernels.graph_runs.size() == 2);
  CHECK(copies.mem_ops.size() == 2);
  CHECK(sets.mem_ops.size() == 4);
  CHECK((copies.has_mem_data && sets.has_mem_data && kernels.has_mem_data && kernels.has_api_data && kernels.has_range_data));
  const Trace calls = without("CUPTI_ACTIVITY_KIND_RUNTIME"), ranges = without("NVTX_EVENTS"), devices = without("TARGET_INFO_GPU");
  CHECK_FALSE(calls.has_api_data);
  CHECK(calls.kernels.at(0).api == kNone);
  CHECK_FALSE(ranges.has_range_data);
  CHECK(ranges.session_end_ns == 2100);
  CHECK(devices.devices.empty());
}

TEST_CASE("nsys: only the tables that are asked for are read") {
  test::CraftedExport made;
  test::make_export(made);
  const auto sizes = [&](const parsers::NsysTables& tables) {
    const Trace trace = read_nsys_sqlite(made.file, tables);
    return std::vector<std::size_t>{trace.kernels.size(), trace.graph_runs.size(), trace.api_stats.size(), trace.mem_ops.size(),
                                    trace.ranges.size()};
  };
  CHECK(sizes({.kernels = true, .api = false, .mem_ops = false, .ranges = false}) == std::vector<std::size_t>{5, 2, 0, 0, 0});
  CHECK(sizes({.kernels = false, .api = true, .mem_ops = false, .ranges = false}) == std::vector<std::size_t>{0, 0, 5, 0, 0});
  CHECK(sizes({.kernels = false, .api = false, .mem_ops = true, .ranges = false}) == std::vector<std::size_t>{0, 0, 0, 6, 0});
  CHECK(sizes({.kernels = false, .api = false, .mem_ops = false, .ranges = true}) == std::vector<std::size_t>{0, 0, 0, 0, 5});
}

TEST_CASE("nsys: calls come by thread and time, kernels as the table has them") {
  test::CraftedExport made;
  test::make_export(made);
  const Trace trace = read_nsys_sqlite(made.file);
  std::vector<std::pair<std::uint32_t, Ns>> calls;
  for (const ApiCall& call : trace.api_calls) calls.emplace_back(trace.threads.at(call.thread).tid, call.start_ns);
  CHECK(calls == std::vector<std::pair<std::uint32_t, Ns>>{
                     {21, 900}, {21, 920}, {21, 950}, {21, 970}, {21, 980}, {31, 905}, {31, 925}, {22, 930}, {22, 971}});
  std::vector<Ns> kernels;
  for (const Kernel& kernel : trace.kernels) kernels.push_back(kernel.start_ns);
  CHECK(kernels == std::vector<Ns>{1000, 1300, 1100, 1400, 1600});
}
