#include <fstream>

#include <fmt/format.h>

#include "model/error.h"
#include "parsers/nsys/sqlite.h"
#include "tests/unit/parsers/nsys/crafted.h"
#include "tests/unit/remark_texts.h"

using namespace nl;
using namespace nl::parsers;
using nl::test::CraftedExport;
using nl::test::global_tid;

namespace {

Error failure_of(const std::filesystem::path& file) {
  try {
    read_nsys_sqlite(file);
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::kInternal, "it was read without an error");
}

void check_refused(const std::filesystem::path& file, const std::string& part_of_message) {
  Error error = failure_of(file);
  INFO(error.message);
  CHECK(error.kind == ErrorKind::kInput);
  CHECK(error.message.find(part_of_message) != std::string::npos);
  CHECK(error.where == file.string());
  CHECK(error.fix != "");
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("what is no export is refused with its name and what to do") {
  CraftedExport made;
  SECTION("not there") { check_refused(made.folder / "nothing.sqlite", "no such file"); }
  SECTION("a folder") { check_refused(made.folder, "folder"); }
  SECTION("empty") {
    made.bytes("");
    check_refused(made.file, "empty");
  }
  SECTION("text") {
    made.bytes("Time (%),Total Time (ns)\n100.0,12345\n" + std::string(4096, 'x'));
    check_refused(made.file, "not an SQLite file");
  }
  SECTION("a few bytes") {
    made.bytes("SQL");
    check_refused(made.file, "not an SQLite file");
  }
  SECTION("some other database") {
    made.sql("CREATE TABLE people (name TEXT)");
    check_refused(made.file, "none of the tables");
  }
}

TEST_CASE("an export that was cut short is refused, wherever the cut is") {
  CraftedExport made;
  made.copy_of("h200-probe/probe_node.sqlite");
  std::string whole = content_of(made.file);
  for (std::size_t kept : {std::size_t{20}, std::size_t{99}, std::size_t{100}, std::size_t{4096}, std::size_t{10000}, whole.size() / 2,
                           whole.size() - 4096, whole.size() - 1}) {
    INFO(kept);
    made.bytes(whole.substr(0, kept));
    check_refused(made.file, "cut short");
  }
}

TEST_CASE("an export with pages overwritten is refused or read, but never breaks us") {
  CraftedExport made;
  made.copy_of("h200-probe/probe_node.sqlite");
  std::string whole = content_of(made.file);
  int refused = 0;
  for (std::size_t page = 1; page * 4096 < whole.size(); ++page) {
    std::string damaged = whole;
    std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(page * 4096), 4096, '\xA5');
    made.bytes(damaged);
    try {
      read_nsys_sqlite(made.file);
    } catch (const Error& error) {
      ++refused;
      CHECK(error.kind == ErrorKind::kInput);
      CHECK(error.where == made.file.string());
    }
  }
  CHECK(refused > 10);
}

TEST_CASE("the first page, with the tables' names, is garbage") {
  CraftedExport made;
  made.copy_of("h200-probe/probe_node.sqlite");
  std::string damaged = content_of(made.file);
  std::fill_n(damaged.begin() + 100, 3000, '\xFF');
  made.bytes(damaged);
  check_refused(made.file, "damaged");
}

TEST_CASE("no kernel table: there is no kernel data, and it says which tables are absent") {
  CraftedExport made;
  made.copy_of("h200-probe/probe_node.sqlite");
  made.sql("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL");
  Trace trace = read_nsys_sqlite(made.file);
  CHECK(!trace.has_kernel_data);
  CHECK(trace.kernels.empty());
  CHECK(trace.has_api_data);
  CHECK(trace.ranges.size() == 50);
  CHECK(trace.stats.tables_absent == std::vector<std::string>{"CUPTI_ACTIVITY_KIND_KERNEL"});
}

TEST_CASE("damaged rows are counted by reason and left out") {
  CraftedExport made;
  made.sql(std::string(test::kOldSchema) + "INSERT INTO StringIds VALUES (1, 'kern'), (2, 'cudaLaunchKernel');" +
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName) VALUES (NULL, 5, 1), (1, NULL, 1), (9, 3, "
           "1), (1, 99999999999999, 1), "
           "(-9223372036854775807, 9223372036854775807, 1), (10, 20, 1);"
           "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, nameId) VALUES (NULL, NULL, 2), (5, 1, 2), (1, 5, 2);" +
           fmt::format("INSERT INTO NVTX_EVENTS VALUES (NULL, 5, 59, 'a', {0}, 0), (9, 5, 59, 'b', {0}, 0), (1, 5, 59, 'c', "
                       "{0}, 0);",
                       global_tid(5, 5)));
  Trace trace = read_nsys_sqlite(made.file);
  CHECK(trace.kernels.size() == 1);
  CHECK(trace.ranges.size() == 1);
  REQUIRE(trace.api_stats.size() == 1);
  CHECK(trace.api_stats[0].durations.count() == 1);
  CHECK(trace.stats.rows_read.at("CUPTI_ACTIVITY_KIND_KERNEL") == 6);
  CHECK(nl::test::texts_of(trace.stats.rows_damaged) ==
        std::map<std::string, std::uint64_t>{{"kernel without start or end", 2},
                                             {"kernel that ends before it starts or lasts over 4.8 hours", 3},
                                             {"API call without start or end", 1},
                                             {"API call that ends before it starts or lasts over 4.8 hours", 1},
                                             {"range or mark without start", 1},
                                             {"range that ends before it starts", 1}});
}

TEST_CASE("calls that the table has out of order come by time, those of one time by their correlation") {
  CraftedExport made;
  made.sql(std::string(test::kOldSchema) + "INSERT INTO StringIds VALUES (2, 'cudaDeviceSynchronize');" +
           fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId) VALUES (30, 40, {0}, 1, 2), "
                       "(10, 20, {0}, 9, 2), (10, 15, {0}, 8, 2);",
                       global_tid(5, 5)));
  std::vector<std::pair<Ns, std::uint32_t>> calls;
  for (const ApiCall& call : read_nsys_sqlite(made.file).api_calls) calls.emplace_back(call.start_ns, call.correlation);
  CHECK(calls == std::vector<std::pair<Ns, std::uint32_t>>{{10, 8}, {10, 9}, {30, 1}});
}

TEST_CASE("copies of an export that does not name their kinds have CUPTI's names") {
  CraftedExport made;
  made.sql(std::string(test::kOldSchema) +
           "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, bytes INTEGER, copyKind INTEGER);"
           "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 2, 5, 1), (3, 4, 5, 13), (5, 6, 5, 14), (7, 8, 5, 0);");
  const Trace trace = read_nsys_sqlite(made.file);
  REQUIRE(trace.mem_ops.size() == 4);
  const auto label = [&](std::size_t i) { return trace.strings[StringId{trace.mem_ops[i].label}]; };
  CHECK(label(0) == "[CUDA memcpy Host-to-Device]");
  CHECK(label(1) == "[CUDA memcpy Unified Device-to-Device]");
  CHECK(label(2) == "");
  CHECK(label(3) == "[CUDA memcpy Unknown]");
  CHECK(trace.stats.rows_damaged == DamagedRows{{{Code::kUnknownCopy}, 1}});
  made.sql(
      "CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER, name TEXT, label TEXT); INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (14, 'X', "
      "'New-to-Newer')");
  const Trace named = read_nsys_sqlite(made.file);
  CHECK(named.strings[StringId{named.mem_ops.at(2).label}] == "[CUDA memcpy New-to-Newer]");
  CHECK(named.stats.rows_damaged == DamagedRows{{{Code::kUnknownCopy}, 3}});
}

TEST_CASE("kernels without a name are kept and counted") {
  CraftedExport made;
  made.sql(std::string(test::kOldSchema) +
           "INSERT INTO StringIds VALUES (1, 'kern');"
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName) VALUES (1, 5, NULL), (6, 9, 12345), "
           "(10, 20, 1);");
  Trace trace = read_nsys_sqlite(made.file);
  CHECK(trace.kernels.size() == 3);
  CHECK(nl::test::texts_of(trace.stats.rows_damaged) == std::map<std::string, std::uint64_t>{{"kernel without a name (kept)", 2}});
}

TEST_CASE("text that is not UTF-8 is mended and counted") {
  CraftedExport made;
  made.sql(std::string(test::kOldSchema) +
           "INSERT INTO StringIds VALUES (1, CAST(x'6BFF6E' AS TEXT));"
           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName) VALUES (1, 5, 1);" +
           fmt::format("INSERT INTO NVTX_EVENTS VALUES (1, 5, 59, CAST(x'C3' AS TEXT), {0}, 0);", global_tid(5, 5)));
  Trace trace = read_nsys_sqlite(made.file);
  CHECK(trace.strings[trace.shapes.at(0).name] == "k\xEF\xBF\xBDn");
  CHECK(trace.strings[trace.ranges.at(0).name] == "\xEF\xBF\xBD");
  CHECK(nl::test::texts_of(trace.stats.rows_damaged) ==
        std::map<std::string, std::uint64_t>{{"text that is not UTF-8 (kept, U+FFFD in its place)", 2}});
}

TEST_CASE("a range that was never closed ends with the capture") {
  CraftedExport made;
  made.sql(std::string(test::kOldSchema) +
           fmt::format("INSERT INTO NVTX_EVENTS VALUES (10, NULL, 59, 'open', {0}, 0), (20, 30, 59, 'closed', {0}, 0);", global_tid(5, 5)) +
           "CREATE TABLE ANALYSIS_DETAILS (duration INTEGER); INSERT INTO ANALYSIS_DETAILS VALUES (1000);");
  Trace trace = read_nsys_sqlite(made.file);
  REQUIRE(trace.ranges.size() == 2);
  CHECK(trace.ranges[0].open);
  CHECK(trace.ranges[0].end_ns == 1000);
  CHECK(!trace.ranges[1].open);
  CHECK(trace.last_range_event_ns == 30);
}
