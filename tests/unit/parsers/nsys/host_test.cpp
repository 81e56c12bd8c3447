// What nsys saw of the host: calls of the operating system, with the columns of nsys 2022.4, and sampled stacks, with those of 2025.3.
#include <fmt/format.h>

#include "parsers/nsys/sqlite.h"
#include "tests/unit/parsers/nsys/made_export.h"

using namespace nl;
using nl::parsers::read_nsys_sqlite;

namespace {

const char* const kOsTable =
    "CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER "
    "NOT NULL, "
    "returnValue INTEGER NOT NULL, nestingLevel INTEGER, callchainId INTEGER NOT NULL);"
    "INSERT INTO StringIds VALUES (30, 'pthread_cond_wait'), (31, 'read');";

const char* const kSampleTables =
    "CREATE TABLE COMPOSITE_EVENTS (id INTEGER NOT NULL PRIMARY KEY, start INTEGER NOT NULL, cpu INTEGER, threadState INTEGER, globalTid "
    "INTEGER, "
    "cpuCycles INTEGER NOT NULL);"
    "CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER NOT NULL, module INTEGER NOT NULL, kernelMode INTEGER, "
    "thumbCode INTEGER, "
    "unresolved INTEGER, specialEntry INTEGER, originalIP INTEGER, unwindMethod INTEGER, stackDepth INTEGER NOT NULL, PRIMARY KEY (id, "
    "stackDepth));"
    "INSERT INTO StringIds VALUES (40, 'main'), (41, 'launch'), (42, '/usr/bin/server'), (43, '/usr/lib/libcuda.so'), (44, '0x5f7400'), "
    "(45, '0x5ef141'), "
    "(46, '[Broken backtraces]');";

// Thread 21 of process 200 calls CUDA, thread 29 does not.
std::string row(const char* statement) {
  return fmt::format(fmt::runtime(statement), fmt::arg("cuda", test::global_tid(200, 21)), fmt::arg("other", test::global_tid(200, 29)));
}

Trace trace_with(const std::string& statements) {
  test::CraftedExport made;
  test::make_export(made);
  made.sql(statements);
  return read_nsys_sqlite(made.file);
}

std::string stack_text(const Trace& trace, const HostSample& sample) {
  std::string out;
  for (const std::uint32_t frame : trace.host.stacks.at(sample.stack))
    out += (out.empty() ? "" : " > ") + trace.host.frames.at(frame).function;
  return out;
}

}  // namespace

TEST_CASE("nsys: calls of the operating system that are long, outermost and of a thread that calls CUDA are kept, by start") {
  const Trace trace = trace_with(
      kOsTable +
      row("INSERT INTO OSRT_API VALUES (9000, 15000, 27, {cuda}, 31, 0, 0, 0), (1000, 6000, 27, {cuda}, 30, 0, NULL, 0), "
          "(7000, 11999, 27, {cuda}, 30, 0, NULL, 0), (9100, 14900, 27, {cuda}, 30, 0, 1, 0), (1000, 99000, 27, {other}, 30, 0, NULL, 0), "
          "(1000, 99000, 27, NULL, 30, 0, NULL, 0)"));
  REQUIRE(trace.os_calls.size() == 2);
  CHECK(trace.os_calls[0].start_ns == 1000);
  CHECK(trace.os_calls[0].duration_ns == 5000);  // just long enough
  CHECK(trace.strings[trace.os_calls[0].name] == "pthread_cond_wait");
  CHECK(trace.threads.at(trace.os_calls[0].thread).tid == 21);
  CHECK(trace.os_calls[1].start_ns == 9000);
  CHECK(trace.strings[trace.os_calls[1].name] == "read");
  CHECK(trace.stats.rows_read.at("OSRT_API") == 6);
}

TEST_CASE("nsys: a call of the operating system that lasts for hours is damaged, and ends before it starts is none") {
  const Trace trace = trace_with(
      kOsTable +
      row("INSERT INTO OSRT_API VALUES (0, 20000000000000, 27, {cuda}, 30, 0, NULL, 0), (9000, 1000, 27, {cuda}, 30, 0, NULL, 0)"));
  CHECK(trace.os_calls.empty());
  CHECK(trace.stats.rows_damaged.at({Code::kTooLong, {"call of the operating system"}}) == 1);
}

TEST_CASE("nsys: older tables have no nesting, and a table without its columns is as if it were not there") {
  const Trace old =
      trace_with(row("CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER);"
                     "INSERT INTO OSRT_API VALUES (1000, 9000, {cuda}, 12)"));
  REQUIRE(old.os_calls.size() == 1);
  CHECK(old.strings[old.os_calls[0].name] == "cudaStreamSynchronize_v3020");  // whatever the id names
  const Trace strange = trace_with("CREATE TABLE OSRT_API (start INTEGER, end INTEGER); INSERT INTO OSRT_API VALUES (1000, 9000)");
  CHECK(strange.os_calls.empty());
  CHECK(trace_with("").os_calls.empty());
  CHECK(trace_with("").stats.tables_absent.empty());  // nsys was not asked for them
}

TEST_CASE("nsys: a sampled stack begins with its outermost frame") {
  const Trace trace = trace_with(
      kSampleTables +
      row("INSERT INTO COMPOSITE_EVENTS VALUES (7, 5000, 0, 1, {cuda}, 1), (8, 1000, 0, 1, {cuda}, 1), (9, 3000, 0, 1, {cuda}, 1), "
          "(10, 3500, 0, 1, {other}, 1);"
          "INSERT INTO SAMPLING_CALLCHAINS VALUES (7, 41, 43, 0, 0, 0, NULL, 1, 7, 0), (7, 40, 42, 0, 0, 0, NULL, 1, 7, 1), "
          "(8, 41, 43, 0, 0, 0, NULL, 1, 7, 0), (8, 40, 42, 0, 0, 0, NULL, 1, 7, 1), (9, 40, 42, 0, 0, 0, NULL, 1, 7, 0), "
          "(10, 41, 43, 0, 0, 0, NULL, 1, 7, 0)"));
  const HostSamples& host = trace.host;
  CHECK(host.sampler == HostSampler::kNsys);
  CHECK(host.period_ns == 2000);
  CHECK_FALSE(host.cost_share);
  REQUIRE(host.samples.size() == 3);  // by time, those of the other thread left out
  CHECK(host.samples[0].time_ns == 1000);
  CHECK(host.samples[0].pid == 200);
  CHECK(host.samples[0].tid == 21);
  CHECK(stack_text(trace, host.samples[0]) == "main > launch");
  CHECK(stack_text(trace, host.samples[1]) == "main");
  CHECK(host.samples[2].stack == host.samples[0].stack);
  REQUIRE(host.stacks.size() == 2);
  const HostFrame& launch = host.frames.at(host.stacks.at(host.samples[0].stack).back());
  CHECK(launch.file == "/usr/lib/libcuda.so");
  CHECK(launch.module.empty());
  CHECK(launch.line == 0);
}

TEST_CASE("nsys: frames without a symbol are one for each library, and what is no frame is left out") {
  const Trace trace = trace_with(
      kSampleTables +
      row("INSERT INTO COMPOSITE_EVENTS VALUES (1, 1000, 0, 1, {cuda}, 1), (2, 2000, 0, 1, {cuda}, 1), (3, 3000, 0, 1, {cuda}, 1);"
          "INSERT INTO SAMPLING_CALLCHAINS VALUES (1, 44, 42, 0, 0, 1, NULL, 1, 7, 0), (1, 46, 46, 0, 0, 0, NULL, 1, 7, 1), "
          "(2, 45, 42, 0, 0, 1, NULL, 1, 7, 0), (2, 40, 42, 0, 0, 0, 1, 1, 7, 1), (3, 46, 46, 0, 0, 0, NULL, 1, 7, 0)"));
  REQUIRE(trace.host.samples.size() == 2);
  CHECK(stack_text(trace, trace.host.samples[0]) == "(no symbol)");
  CHECK(trace.host.samples[1].stack == trace.host.samples[0].stack);
  CHECK(trace.host.lost == 1);  // nothing is left of the third
}

TEST_CASE("nsys: samples without stacks, stacks without samples and tables of another make are nothing") {
  CHECK(trace_with(kSampleTables).host.sampler == HostSampler::kNone);
  CHECK(trace_with(kSampleTables + row("INSERT INTO COMPOSITE_EVENTS VALUES (1, 1000, 0, 1, {cuda}, 1)")).host.sampler ==
        HostSampler::kNone);
  CHECK(trace_with(kSampleTables + std::string("INSERT INTO SAMPLING_CALLCHAINS VALUES (1, 40, 42, 0, 0, 0, NULL, 1, 7, 0)"))
            .host.samples.empty());
  CHECK(trace_with("CREATE TABLE COMPOSITE_EVENTS (id INTEGER, start INTEGER); CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER)")
            .host.samples.empty());
}

TEST_CASE("nsys: who asks for no host, or for no API calls, does not pay for it") {
  test::CraftedExport made;
  test::make_export(made);
  made.sql(kOsTable + row("INSERT INTO OSRT_API VALUES (1000, 9000, 27, {cuda}, 30, 0, NULL, 0)"));
  CHECK(read_nsys_sqlite(made.file, {.host = false}).os_calls.empty());
  CHECK(read_nsys_sqlite(made.file, {.api = false}).os_calls.empty());
  CHECK(read_nsys_sqlite(made.file).os_calls.size() == 1);
}
