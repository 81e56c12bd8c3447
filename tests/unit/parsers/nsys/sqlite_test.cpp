#include "parsers/nsys/sqlite.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "tests/unit/parsers/nsys/crafted.h"

using namespace nl;
using namespace nl::parsers;
using nl::test::CraftedExport;
using nl::test::global_tid;

namespace {

Trace probe(const char* name) { return read_nsys_sqlite(std::filesystem::path(NL_FIXTURES) / "h200-probe" / name); }

std::uint32_t pid_of_queue(const Trace& trace, std::uint32_t queue) { return trace.processes.at(trace.queues.at(queue).process).pid; }

std::uint32_t pid_of_call(const Trace& trace, std::uint32_t call) {
  return trace.processes.at(trace.threads.at(trace.api_calls.at(call).thread).process).pid;
}

std::string kernel_row(int start, int end, int correlation, long long pid, int name) {
  return fmt::format(
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid, "
      "demangledName, "
      "shortName, gridX, gridY, gridZ, blockX, blockY, blockZ) VALUES ({}, {}, 0, 1, 7, {}, {}, {}, {}, 4, 2, 1, 128, "
      "1, 1);",
      start, end, correlation, global_tid(pid, 0), name, name);
}

std::string api_row(int start, int end, long long pid, int correlation, int name) {
  return fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({}, {}, 0, {}, {}, {}, 0);", start, end, global_tid(pid, pid),
                     correlation, name);
}

}  // namespace

TEST_CASE("a real capture: what it was made with, on which GPU, how long") {
  Trace trace = probe("probe_node.sqlite");
  CHECK(trace.stats.source_format == nl::SourceFormat::kNsysSqlite);
  CHECK(trace.stats.schema_version == "3.20.3");
  CHECK(trace.stats.tool_version == "2025.3.2.0");
  CHECK(trace.duration_ns == 1349851033);
  CHECK(trace.utc_start_ns.has_value());
  REQUIRE(trace.devices.size() == 1);
  CHECK(trace.devices[0].name == "NVIDIA H200");
  CHECK(trace.devices[0].sm_count == 132);
  CHECK(trace.devices[0].compute_major == 9);
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(trace.stats.rows_read.at("CUPTI_ACTIVITY_KIND_KERNEL") == 162);
  CHECK(trace.has_kernel_data);
  CHECK(trace.has_api_data);
  CHECK(trace.has_mem_data);
  CHECK(trace.has_range_data);
}

TEST_CASE("clocks: launches and waits of a real capture bound the error from both sides") {
  // Worked out from the tables by a script of its own.
  const Trace llama = read_nsys_sqlite(std::filesystem::path(NL_FIXTURES) / "h200-llama" / "nsys.sqlite");
  REQUIRE(llama.clock);
  CHECK(llama.clock->launch_slack_ns == 5606);
  CHECK(llama.clock->wait_slack_ns == 3007);
  CHECK(llama.clock->error_ns() == 5606);
  CHECK(llama.clock->contradictions == 0);
  CHECK(std::any_of(llama.stats.notes.begin(), llama.stats.notes.end(), [](const Remark& note) { return note.code == Code::kClockFit; }));
  CHECK(llama.syncs.empty());  // the export is not to have them twice
  const Trace two = probe("probe_node.sqlite");
  REQUIRE(two.clock);
  CHECK(two.clock->launch_slack_ns == 6184);
  CHECK(two.clock->wait_slack_ns == 4165);
}

TEST_CASE("clocks: a wait counts by its call's name, for its own stream and process, or for the whole context") {
  // A kernel of stream 7 from 2000 to 5000, launched by a call from 1000 to 1100; a wait from 1200 to 6000.
  const auto read = [](const char* call, int stream, long long pid, bool table) {
    CraftedExport made;
    std::string sql = std::string(test::kOldSchema) +
                      fmt::format("INSERT INTO StringIds VALUES (1, 'kern'), (2, 'cudaLaunchKernel'), (3, '{}');", call) +
                      kernel_row(2000, 5000, 1, 5, 1) + api_row(1000, 1100, 5, 1, 2) + api_row(1200, 6000, pid, 9, 3);
    if (table)
      sql += fmt::format(
          "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId "
          "INTEGER, "
          "correlationId INTEGER, globalPid INTEGER, syncType INTEGER);"
          "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (1300, 5900, 0, 1, {}, 9, {}, 2);",
          stream, global_tid(pid, 0));
    made.sql(sql);
    const Trace trace = read_nsys_sqlite(made.file);
    REQUIRE(trace.clock);
    CHECK(trace.clock->launch_slack_ns == 1000);
    return trace.clock->wait_slack_ns;
  };
  CHECK(read("cudaStreamSynchronize_v3020", 7, 5, true) == 1000);
  CHECK_FALSE(read("cudaStreamSynchronize_v3020", 8, 5, true));
  CHECK_FALSE(read("cudaStreamSynchronize_v3020", 7, 6, true));
  CHECK_FALSE(read("cudaStreamSynchronize_v3020", 7, 5, false));
  CHECK(read("cudaDeviceSynchronize_v3020", 0, 5, true) == 1000);
  CHECK_FALSE(read("cudaStreamWaitEvent_v3020", 7, 5, true));
}

TEST_CASE("every kernel has the call of its own process that launched it") {
  Trace trace = probe("probe_node.sqlite");
  REQUIRE(trace.kernels.size() == 162);
  std::set<std::uint32_t> pids;
  for (const Kernel& kernel : trace.kernels) {
    REQUIRE(kernel.api != kNone);
    const ApiCall& call = trace.api_calls[kernel.api];
    CHECK(pid_of_queue(trace, kernel.queue) == pid_of_call(trace, kernel.api));
    CHECK(call.start_ns <= kernel.start_ns);
    pids.insert(pid_of_call(trace, kernel.api));
    const std::string& name = trace.strings[call.name];
    CHECK((kernel.in_graph ? name == "cudaGraphLaunch_v10000" : name == "cudaLaunchKernel"));
  }
  CHECK(pids == std::set<std::uint32_t>{622, 642});
}

TEST_CASE("the kernels and copies of a graph share its launch") {
  Trace trace = probe("probe_node.sqlite");
  std::set<std::uint32_t> launches, copies;
  for (const Kernel& kernel : trace.kernels)
    if (kernel.in_graph) launches.insert(kernel.api);
  for (const MemOp& op : trace.mem_ops)
    if (op.in_graph) copies.insert(op.api);
  CHECK(launches.size() == 8);
  CHECK(copies == launches);
  CHECK(trace.graph_runs.empty());
}

TEST_CASE("graphs traced as a whole are runs without kernels") {
  Trace trace = probe("probe_graph.sqlite");
  CHECK(trace.graph_runs.size() == 8);
  for (const GraphRun& run : trace.graph_runs) {
    REQUIRE(run.api != kNone);
    CHECK(trace.strings[trace.api_calls[run.api].name] == "cudaGraphLaunch_v10000");
  }
  CHECK(std::none_of(trace.kernels.begin(), trace.kernels.end(), [](const Kernel& k) { return k.in_graph; }));
}

TEST_CASE("API calls: only those that launched or waited are kept one by one, all are counted") {
  Trace trace = probe("probe_node.sqlite");
  std::size_t counted = 0;
  std::set<std::string> kept;
  for (const ApiStat& stat : trace.api_stats) counted += stat.durations.count();
  for (const ApiCall& call : trace.api_calls) kept.insert(trace.strings[call.name]);
  CHECK(counted == trace.stats.rows_read.at("CUPTI_ACTIVITY_KIND_RUNTIME"));
  CHECK(kept == std::set<std::string>{"cudaDeviceSynchronize", "cudaGraphLaunch_v10000", "cudaLaunchKernel", "cudaMemcpy", "cudaMemset",
                                      "cudaStreamSynchronize"});
  CHECK(std::is_sorted(trace.api_calls.begin(), trace.api_calls.end(), [](const ApiCall& a, const ApiCall& b) {
    return a.thread != b.thread ? a.thread < b.thread : a.start_ns < b.start_ns;
  }));
}

TEST_CASE("API calls: of those that neither launched nor waited the long ones are kept") {
  const Trace trace = probe("probe_node.sqlite");
  std::map<std::string, std::size_t> kept, expected;
  std::set<std::string> work;
  for (const ApiCall& call : trace.api_calls) work.insert(trace.strings[call.name]);
  for (const ApiCall& call : trace.other_calls) ++kept[trace.strings[call.name]];
  for (const ApiStat& stat : trace.api_stats)
    for (const Ns duration : stat.durations.values())
      if (duration >= 5000 && !work.contains(trace.strings[stat.name])) ++expected[trace.strings[stat.name]];
  for (const std::string& name : work) kept.erase(name);  // one that found nothing to launch
  CHECK(kept == expected);
  CHECK(kept.contains("cudaMalloc"));
  CHECK(std::is_sorted(trace.other_calls.begin(), trace.other_calls.end(), [](const ApiCall& a, const ApiCall& b) {
    return a.thread != b.thread ? a.thread < b.thread : a.start_ns < b.start_ns;
  }));
}

TEST_CASE("ranges and marks: domains by process, styles, threads") {
  Trace trace = probe("probe_node.sqlite");
  CHECK(trace.ranges.size() == 50);
  CHECK(trace.marks.size() == 2);
  for (const Mark& mark : trace.marks) {
    CHECK(trace.strings[mark.name] == "token");
    CHECK(trace.strings[mark.domain] == "LLM");
  }
  auto count = [&](auto matches) { return std::count_if(trace.ranges.begin(), trace.ranges.end(), matches); };
  CHECK(count([&](const Range& r) { return r.style == RangeStyle::kStartEnd; }) == 4);
  CHECK(count([&](const Range& r) { return r.end_thread != kNone; }) == 2);
  CHECK(count([&](const Range& r) { return trace.strings[r.name] == "decode_step" && trace.strings[r.domain] == "LLM"; }) == 12);
  CHECK(count([&](const Range& r) { return trace.strings[r.name] == "sample" && trace.strings[r.domain].empty(); }) == 12);
}

TEST_CASE("only what is asked for is read") {
  std::filesystem::path file = std::filesystem::path(NL_FIXTURES) / "h200-probe/probe_node.sqlite";
  Trace trace = read_nsys_sqlite(file, {true, false, false, false});
  CHECK(trace.kernels.size() == 162);
  CHECK(trace.api_stats.empty());
  CHECK(trace.ranges.empty());
  CHECK(trace.mem_ops.empty());
  CHECK(trace.has_api_data);
  CHECK(trace.kernels.front().api == kNone);
}

TEST_CASE("the schema of 2022: columns that are not there are not missed") {
  CraftedExport made;
  made.sql(std::string(test::kOldSchema) + "INSERT INTO StringIds VALUES (1, 'kern'), (2, 'cudaLaunchKernel_v7000');" +
           kernel_row(100, 150, 9, 5, 1) + api_row(10, 20, 5, 9, 2) +
           fmt::format("INSERT INTO NVTX_EVENTS VALUES (0, 50, 59, 'prefill', {}, 1), (-1, NULL, 75, 'LLM', {}, 1);", global_tid(5, 5),
                       global_tid(5, 6)));
  Trace trace = read_nsys_sqlite(made.file);
  CHECK(trace.stats.schema_version == "3.0.0");
  REQUIRE(trace.kernels.size() == 1);
  const KernelShape& shape = trace.shapes[trace.kernels[0].shape];
  CHECK(trace.strings[shape.name] == "kern");
  CHECK(trace.strings[shape.mangled_name] == "");
  CHECK(shape.grid == Dim3{4, 2, 1});
  REQUIRE(trace.kernels[0].api != kNone);
  CHECK(trace.strings[trace.api_calls[trace.kernels[0].api].name] == "cudaLaunchKernel");
  REQUIRE(trace.ranges.size() == 1);
  CHECK(trace.strings[trace.ranges[0].domain] == "LLM");
  CHECK(trace.has_mem_data == false);
  CHECK(trace.duration_ns == 150);
}

TEST_CASE("two processes with the same correlation ids keep their work apart") {
  CraftedExport made;
  made.sql(std::string(test::kOldSchema) + "INSERT INTO StringIds VALUES (1, 'kern'), (2, 'cudaLaunchKernel');" +
           kernel_row(100, 150, 9, 5, 1) + kernel_row(200, 250, 9, 6, 1) + kernel_row(300, 350, 9, 7, 1) + api_row(10, 20, 6, 9, 2) +
           api_row(30, 40, 5, 9, 2));
  Trace trace = read_nsys_sqlite(made.file);
  REQUIRE(trace.kernels.size() == 3);
  CHECK(pid_of_call(trace, trace.kernels[0].api) == 5);
  CHECK(pid_of_call(trace, trace.kernels[1].api) == 6);
  CHECK(trace.kernels[2].api == kNone);  // process 7 called nothing
}

TEST_CASE("an export that does not say whose the kernels are") {
  CraftedExport made;
  made.sql(
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1, 'kern'), (2, "
      "'cudaLaunchKernel');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, "
      "correlationId INTEGER, demangledName INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 9, 0, 7, 3, 1);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, "
      "nameId INTEGER);" +
      fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, {}, 3, 2);", global_tid(5, 5)));
  Trace trace = read_nsys_sqlite(made.file);
  REQUIRE(trace.kernels.size() == 1);
  REQUIRE(trace.kernels[0].api != kNone);
  CHECK(pid_of_queue(trace, trace.kernels[0].queue) == 5);
  REQUIRE(trace.stats.notes.size() == 2);
  CHECK(trace.stats.notes[0] == Remark{Code::kKernelsWithoutProcess});
  CHECK(trace.stats.notes[1].code == Code::kClockFit);
}

TEST_CASE("string ids without an index are found too") {
  CraftedExport made;
  made.sql(
      "CREATE TABLE StringIds (id INTEGER, value TEXT); INSERT INTO StringIds VALUES (7, 'kern');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, demangledName INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 9, 7);");
  Trace trace = read_nsys_sqlite(made.file);
  REQUIRE(trace.shapes.size() == 1);
  CHECK(trace.strings[trace.shapes[0].name] == "kern");
}

TEST_CASE("many rows are read in parts: nothing is lost, repeated or out of order, also with gaps between rowids") {
  CraftedExport made;
  made.sql(std::string(test::kOldSchema) +
           "INSERT INTO StringIds VALUES (1, 'even'), (2, 'odd'), (3, 'cudaLaunchKernel_v7000'), (4, 'cudaFree_v3020');" +
           fmt::format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) INSERT INTO "
                       "CUPTI_ACTIVITY_KIND_KERNEL "
                       "SELECT i * 100, i * 100 + i % 7, 0, 1, i % 3, i * 2, {}, 1 + i % 2, 1, 8, i % 5, 1, 1, 64, 1, 1, 0, "
                       "0 FROM n;",
                       global_tid(5, 0)) +
           fmt::format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) INSERT INTO "
                       "CUPTI_ACTIVITY_KIND_RUNTIME "
                       "SELECT i * 50, i * 50 + 10, 0, {} + i % 3, i, 3 + i % 2, 0 FROM n;",
                       global_tid(5, 0)));
  auto check = [&](std::size_t expected) {
    Trace trace = read_nsys_sqlite(made.file);
    REQUIRE(trace.kernels.size() == expected);
    for (std::size_t i = 1; i < expected; ++i) REQUIRE(trace.kernels[i - 1].start_ns < trace.kernels[i].start_ns);
    for (const Kernel& kernel : trace.kernels) {
      auto i = static_cast<std::uint32_t>(kernel.start_ns / 100);
      REQUIRE(kernel.api != kNone);
      REQUIRE(trace.api_calls[kernel.api].correlation == 2 * i);
      REQUIRE(trace.strings[trace.shapes[kernel.shape].name] == (i % 2 ? "odd" : "even"));
      REQUIRE(trace.shapes[kernel.shape].grid.x == i % 5);
      REQUIRE(trace.queues[kernel.queue].stream == i % 3);
    }
    CHECK(trace.api_calls.size() == expected);
    CHECK(trace.threads.size() == 3);
    std::size_t calls = 0;
    for (const ApiStat& stat : trace.api_stats) calls += stat.durations.count();
    CHECK(calls == 100000);
    CHECK(trace.api_stats.size() == 2);
  };
  SECTION("dense") { check(50000); }
  SECTION("with gaps") {
    made.sql("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid BETWEEN 1000 AND 29999");
    check(21000);
  }
  SECTION("with a huge rowid") {
    made.sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET rowid = 9223372036854775000 WHERE rowid = 50000");
    check(50000);
  }
}

TEST_CASE("a blank folder for the export: it is opened without a lock or a journal, and not touched") {
  CraftedExport made;
  made.copy_of("h200-probe/probe_node.sqlite");
  auto before = std::filesystem::last_write_time(made.file);
  std::filesystem::permissions(made.folder, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  Trace trace = read_nsys_sqlite(made.file);
  std::filesystem::permissions(made.folder, std::filesystem::perms::owner_all);
  CHECK(trace.kernels.size() == 162);
  CHECK(std::filesystem::last_write_time(made.file) == before);
  CHECK(std::distance(std::filesystem::directory_iterator(made.folder), {}) == 1);
}

TEST_CASE("a path with characters that mean something in a URI") {
  CraftedExport made;
  made.copy_of("h200-probe/probe_node.sqlite");
  std::filesystem::path odd = made.folder / "50% of a#b?c &d=é.sqlite";
  std::filesystem::rename(made.file, odd);
  CHECK(read_nsys_sqlite(odd).kernels.size() == 162);
}

// select copyKind, srcKind, dstKind, count(*) from CUPTI_ACTIVITY_KIND_MEMCPY group by 1, 2, 3: 1|0|2|41 and 2|2|1|1,
// where ENUM_CUDA_MEM_KIND has 0 Pageable, 1 Pinned, 2 Device.
TEST_CASE("kinds of memory are told as CUPTI numbers them") {
  const nl::Trace trace = nl::parsers::read_nsys_sqlite(NL_FIXTURES "/h200-llama/nsys.sqlite");
  std::map<std::tuple<nl::MemOpKind, int, int>, int> copies;
  for (const nl::MemOp& op : trace.mem_ops)
    if (op.kind != nl::MemOpKind::kMemset) ++copies[{op.kind, op.src_kind, op.dst_kind}];
  CHECK(copies == std::map<std::tuple<nl::MemOpKind, int, int>, int>{{{nl::MemOpKind::kHostToDevice, 1, 3}, 41},
                                                                     {{nl::MemOpKind::kDeviceToHost, 3, 2}, 1}});
}

TEST_CASE("threads and processes above 65,535 are told apart by all 24 bits") {
  CraftedExport made;
  made.sql(std::string(test::kOldSchema) + "INSERT INTO StringIds VALUES (1, 'kern'), (2, 'cudaLaunchKernel');" +
           fmt::format(
               "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId) VALUES (1, 2, {0}, 1, 2), "
               "(3, 4, {1}, 2, 2), (5, 6, {2}, 1, 2);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, correlationId, globalPid, demangledName) VALUES (10, 20, 1, {3}, 1), "
               "(20, 30, 2, {3}, 1), (30, 40, 1, {4}, 1);",
               global_tid(70'000, 4465), global_tid(70'000, 70'001), global_tid(4464, 4'194'303), global_tid(70'000, 0),
               global_tid(4464, 0)));
  Trace trace = read_nsys_sqlite(made.file);
  REQUIRE(trace.kernels.size() == 3);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> launched_by;
  for (const Kernel& kernel : trace.kernels) {
    REQUIRE(kernel.api != kNone);
    const Thread& thread = trace.threads.at(trace.api_calls.at(kernel.api).thread);
    launched_by.emplace_back(trace.processes.at(thread.process).pid, thread.tid);
  }
  CHECK(launched_by == std::vector<std::pair<std::uint32_t, std::uint32_t>>{{70'000, 4465}, {70'000, 70'001}, {4464, 4'194'303}});
}

TEST_CASE("correlation 0 is an id like any other, NULL is none") {
  CraftedExport made;
  made.sql(std::string(test::kOldSchema) + "INSERT INTO StringIds VALUES (1, 'kern'), (2, 'cudaLaunchKernel');" +
           fmt::format(
               "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId) VALUES (1, 2, {0}, NULL, 2), "
               "(3, 4, {0}, 0, 2);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, correlationId, globalPid, demangledName) VALUES (10, 20, 0, {1}, 1), "
               "(20, 30, NULL, {1}, 1);",
               global_tid(5, 5), global_tid(5, 0)));
  Trace trace = read_nsys_sqlite(made.file);
  REQUIRE(trace.kernels.size() == 2);
  REQUIRE(trace.kernels[0].api != kNone);
  CHECK(trace.api_calls.at(trace.kernels[0].api).start_ns == 3);
  CHECK(trace.kernels[1].api == kNone);
}
