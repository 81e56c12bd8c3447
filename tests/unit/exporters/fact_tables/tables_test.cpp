#include <nlohmann/json.hpp>
#include <set>

#include "exporters/fact_tables/table.h"
#include "tests/unit/exporters/every_value_run.h"
#include "tests/unit/exporters/fact_tables/described.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/golden.h"

namespace nl::exporters::fact_tables::test {
namespace {

struct ReadRow {
  std::map<std::string, Value> values;
};

std::vector<ReadRow> rows_of(const std::string& name, const nl::Run& run) {
  std::vector<ReadRow> rows;
  const nl::WorkloadIdentity identity = nl::identity_of(run);
  for (const Table& table : tables())
    if (table.name == name)
      table.each_row(run, identity, [&](const Row& row) {
        ReadRow& read = rows.emplace_back();
        for (const Column& column : table.columns) read.values[column.name] = column.read(row);
      });
  return rows;
}

bool fits(Type type, const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) return true;
  switch (type) {
    case Type::kTime:
    case Type::kInteger: return std::holds_alternative<std::int64_t>(value);
    case Type::kReal: return std::holds_alternative<double>(value);
    case Type::kText: return std::holds_alternative<std::string>(value);
    case Type::kBoolean: return std::holds_alternative<bool>(value);
  }
  return false;
}

bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }
const Value kNull;

}  // namespace

TEST_CASE("fact tables: each column has a name that SQL takes as it is, once, and says what it is") {
  const std::string letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  for (const Table& table : tables()) {
    std::set<std::string> names;
    for (const Column& column : table.columns) {
      INFO(table.name << "." << column.name);
      CHECK(names.insert(column.name).second);
      CHECK(column.name.find_first_not_of(letters) == std::string::npos);
      CHECK_FALSE(column.help.empty());
      CHECK(column.help.find('|') == std::string::npos);
      if (column.name.ends_with("_ns")) CHECK(column.unit == "ns");
      if (column.name.ends_with("_bytes")) CHECK(column.unit == "bytes");
    }
    CHECK(table.columns.front().name == "run_id");
  }
}

TEST_CASE("fact tables: every value fits the type of its column, and no column is always null") {
  nl::Run full = nl::test::every_value_run();
  full.provenance.captured_at = "2026-11-15T02:18:08Z";
  full.model.attributes["decode_tokens"] = "16";
  full.ranks.at(0).pids.push_back(full.communication.at(0).pid);
  full.rank_matrix.stage = full.stages.at(0).name;  // whose windows are the ranks' steps
  for (const char* program : {"python", "torch", "cuda_runtime"}) full.software.versions[program] = "1.2";
  for (const Table& table : tables())
    for (const Column& column : table.columns) {
      INFO(table.name << "." << column.name);
      bool any = column.name.starts_with("request_");  // of a server
      for (const nl::Run& run : {full, nl::test::full_run(), nl::test::rich_run(), nl::test::sparse_run(), nl::Run()})
        table.each_row(run, nl::identity_of(run), [&](const Row& row) {
          const Value value = column.read(row);
          CHECK(fits(column.type, value));
          any = any || !is_null(value);
        });
      CHECK(any);
    }
}

TEST_CASE("fact tables: what was not captured is null, never zero") {
  nl::Run run;
  run.run_id = "empty";
  run.stages.emplace_back().name = "decode";
  const auto runs = rows_of("runs", run), stages = rows_of("stages", run);
  REQUIRE(runs.size() == 1);
  for (const char* name :
       {"gpus", "gpu", "tpot_ms", "mfu", "cpu_cores", "memory_bytes", "created_at", "batch", "modified", "exit_status"}) {
    INFO(name);
    CHECK(is_null(runs[0].values.at(name)));
  }
  CHECK(runs[0].values.at("findings") == Value(std::int64_t{0}));  // that there are none is known
  REQUIRE(stages.size() == 1);
  for (const char* name :
       {"budget_wall_ns", "launches", "gpu_busy_ns", "shortest_ns", "stddev_ns", "median_ms", "counted_dram_pct", "gpus"}) {
    INFO(name);
    CHECK(is_null(stages[0].values.at(name)));
  }
  CHECK(rows_of("kernels", run).empty());
  CHECK(rows_of("collectives", run).empty());
}

TEST_CASE("fact tables: a row for each kernel, and what limits it of the launch that says so") {
  nl::Run run;
  run.run_id = "r";
  nl::KernelEntry gemm, silent;
  gemm.name = "gemm<float>(float*)";
  gemm.short_name = "gemm";
  gemm.time.count = 3;
  gemm.time.total_ns = 30;
  gemm.ncu.resize(2);
  gemm.ncu[1].bound_by = nl::Bound::kMemory;
  gemm.ncu[1].values[nl::Metric::kDram] = 81.5;
  silent.time.count = 0;
  run.kernels = {gemm, silent};
  const auto rows = rows_of("kernels", run);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].values.at("kernel") == Value(std::int64_t{0}));
  CHECK(rows[0].values.at("bound_by") == Value(std::string("memory")));
  CHECK(rows[0].values.at("counted_dram_pct") == Value(81.5));
  CHECK(rows[0].values.at("counted_launches") == Value(std::int64_t{2}));
  CHECK(rows[1].values.at("kernel") == Value(std::int64_t{1}));
  CHECK(is_null(rows[1].values.at("median_ns")));
  CHECK(is_null(rows[1].values.at("name")));
}

TEST_CASE("fact tables: a row for each kind of communication, of the whole capture and of each stage") {
  nl::Run run;
  nl::Communication all;
  all.kind = nl::Collective::kAllReduce;
  all.device = 1;
  all.pid = 42;
  all.count = 7;
  run.communication = {all};
  run.stages.emplace_back().name = "decode_step";
  run.stages.back().communication = {all, all};
  const auto rows = rows_of("collectives", run);
  REQUIRE(rows.size() == 3);
  CHECK(is_null(rows[0].values.at("stage")));
  CHECK(rows[1].values.at("stage") == Value(std::string("decode_step")));
  CHECK(rows[1].values.at("kind") == Value(std::string("all_reduce")));
  CHECK(rows[1].values.at("gpu") == Value(std::int64_t{1}));
  CHECK(is_null(rows[1].values.at("bytes")));
}

TEST_CASE("fact tables: a row for each rank, with what its clock and its steps are known by") {
  nl::Run run;
  run.run_id = "r";
  nl::RankEntry first, fitted;
  first.rank = 0;
  first.clock = nl::RankClock::kReference;
  first.pids = {4242, 4300};
  first.devices = {3};
  fitted.rank = 7;
  fitted.clock = nl::RankClock::kCollectives;
  fitted.offset_ns = -137;
  fitted.drift_ppm = 13.5;
  fitted.drift_error_ppm = 0.5;
  fitted.lateness = {.collectives = 40, .last = 3, .late_ns = 1'000'000, .slowest_kernel = "gemm"};
  fitted.budget = {.wall_ns = 100, .compute_ns = 50, .exchange_ns = 20, .wait_ns = 10, .receive_wait_ns = 5, .copy_ns = 3};
  run.ranks = {first, fitted};
  const auto rows = rows_of("ranks", run);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].values.at("rank") == Value(std::int64_t{0}));
  CHECK(rows[0].values.at("pid") == Value(std::int64_t{4242}));
  CHECK(rows[0].values.at("processes") == Value(std::int64_t{2}));
  CHECK(rows[0].values.at("gpu") == Value(std::int64_t{3}));
  for (const char* name :
       {"host", "offset_ns", "drift_ppm", "drift_error_ppm", "residual_ns", "late_ns", "step_late_ns", "budget_wall_ns"}) {
    INFO(name);
    CHECK(is_null(rows[0].values.at(name)));
  }
  CHECK(rows[1].values.at("offset_ns") == Value(std::int64_t{-137}));
  CHECK(rows[1].values.at("drift_error_ppm") == Value(0.5));
  CHECK(rows[1].values.at("slowest_kernel") == Value(std::string("gemm")));
  CHECK(rows[1].values.at("budget_idle_ns") == Value(std::int64_t{12}));
  CHECK(is_null(rows[1].values.at("step_late_ns")));
  CHECK(rows_of("ranks", nl::Run()).empty());
}

TEST_CASE("fact tables: a row for the collectives of one kind, group and size") {
  nl::Run run;
  run.collective_rates = {{.kind = nl::Collective::kAllGather, .ranks = {0, 2, 5}, .calls = 4, .bytes = 4096, .transfer_ns = 1000}};
  const auto rows = rows_of("collective_rates", run);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].values.at("kind") == Value(std::string("all_gather")));
  CHECK(rows[0].values.at("ranks") == Value(std::string("0,2,5")));
  CHECK(rows[0].values.at("members") == Value(std::int64_t{3}));
  CHECK(rows[0].values.at("sum_bytes") == Value(std::int64_t{4096}));
}

TEST_CASE("fact tables: no argument, path or environment value of the program is repeated") {
  nl::Run run = nl::test::every_value_run();
  run.workload.command = {"python", "serve.py", "--api-key", "SECRET-WORD", "TOKEN=SECRET-WORD"};
  run.workload.working_directory = "/home/SECRET-WORD";
  for (const Table& table : tables())
    for (const ReadRow& row : rows_of(table.name, run))
      for (const auto& [name, value] : row.values)
        if (const auto* known = std::get_if<std::string>(&value)) {
          INFO(table.name << "." << name);
          CHECK(known->find("SECRET-WORD") == std::string::npos);
        }
}

TEST_CASE("fact tables: times of RFC 3339 to microseconds and back") {
  CHECK(time_of("1970-01-01T00:00:00Z") == Value(std::int64_t{0}));
  CHECK(time_of("2026-11-15T01:02:03Z") == Value(std::int64_t{1794704523000000}));
  CHECK(time_of("2026-11-15T01:02:03.25Z") == Value(std::int64_t{1794704523250000}));
  CHECK(time_of("2026-11-15T01:02:03.1234567Z") == Value(std::int64_t{1794704523123456}));
  for (const char* wrong : {"", "yesterday", "2026-13-15T01:02:03Z", "2026-11-15", "2026-11-15T01:02:03+01:00"}) {
    INFO(wrong);
    CHECK(time_of(wrong) == kNull);
  }
  for (const char* text : {"2026-11-15T01:02:03Z", "2026-11-15T01:02:03.250000Z", "1969-12-31T23:59:59.000001Z",
                           "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00Z"})
    CHECK(time_text(std::get<std::int64_t>(time_of(text))) == text);
}

TEST_CASE("fact tables: numbers of texts") {
  CHECK(number_of("32") == Value(32.0));
  CHECK(number_of("128.5") == Value(128.5));
  for (const char* wrong : {"", "8 users", "nan", "inf", "1e999"}) CHECK(number_of(wrong) == kNull);
}

TEST_CASE("fact tables: the listings have every table and column") {
  const auto listing = nlohmann::json::parse(listing_json());
  REQUIRE(listing["tables"].size() == tables().size());
  CHECK(listing["tables"][0]["columns"].size() == tables()[0].columns.size());
  const std::string text = tables_text(80);
  for (const Table& table : tables())
    for (const Column& column : table.columns) CHECK(nl::test::has(text, "  " + column.name + " "));
}

TEST_CASE("fact tables: schema/facts.schema.json is what the declared columns make of it", "[golden]") {
  nl::test::check_golden(NL_SOURCE_ROOT "/schema/facts.schema.json", facts_schema());
}

TEST_CASE("fact tables: docs/facts.md has the tables as they are", "[golden]") {
  const std::string file = NL_SOURCE_ROOT "/docs/facts.md", page = nl::test::read_text(file);
  const std::size_t begin = page.find("<!-- tables -->\n"), end = page.find("<!-- end of tables -->");
  REQUIRE(begin < end);
  REQUIRE(end != std::string::npos);
  nl::test::check_golden(file, page.substr(0, page.find('\n', begin) + 1) + facts_markdown() + page.substr(end));
}

}  // namespace nl::exporters::fact_tables::test
