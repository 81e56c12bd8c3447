#include <chrono>
#include <filesystem>
#include <fstream>

#include "model/error.h"
#include "tests/unit/files.h"
#include "tests/unit/query/asked.h"

using nl::Error;
using nl::ErrorKind;
using nl::test::asked;
using nl::test::kLlamaExport;

namespace {

ErrorKind kind_of_failure(const std::string& sql, const nl::query::Limits& limits = {}) {
  INFO(sql);
  try {
    asked(kLlamaExport, sql, limits);
  } catch (const Error& error) {
    CHECK_FALSE(error.message.empty());
    CHECK_FALSE(error.where.empty());
    return error.kind;
  }
  FAIL("it was answered: " + sql);
  return ErrorKind::kInternal;
}

std::string failure_of(const std::string& sql) {
  try {
    asked(kLlamaExport, sql);
  } catch (const Error& error) {
    return error.message + "\n" + error.fix;
  }
  return "";
}

double seconds_of(const std::string& sql, ErrorKind expected, const nl::query::Limits& limits) {
  const auto begin = std::chrono::steady_clock::now();
  CHECK(kind_of_failure(sql, limits) == expected);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("query faults: what writes, attaches, loads or configures is refused") {
  const auto file = std::filesystem::temp_directory_path() / "nl-stage-query-must-not-be-there";
  std::filesystem::remove(file);
  const std::string name = "'" + file.string() + "'";
  for (const std::string& sql : std::vector<std::string>{"CREATE TABLE t(a)",
                                                         "CREATE TEMP TABLE t(a)",
                                                         "CREATE VIEW v AS SELECT 1",
                                                         "CREATE TEMP VIEW v AS SELECT 1",
                                                         "CREATE VIRTUAL TABLE v USING fts5(a)",
                                                         "CREATE TRIGGER g AFTER INSERT ON slices BEGIN SELECT 1; END",
                                                         "DROP TABLE slices",
                                                         "INSERT INTO slices(name) VALUES ('x')",
                                                         "UPDATE slices SET name = 'x'",
                                                         "DELETE FROM slices",
                                                         "ALTER TABLE slices ADD COLUMN x",
                                                         "ATTACH " + name + " AS other",
                                                         "DETACH main",
                                                         "VACUUM",
                                                         "VACUUM INTO " + name,
                                                         "REINDEX",
                                                         "ANALYZE",
                                                         "BEGIN",
                                                         "COMMIT",
                                                         "SAVEPOINT s",
                                                         "PRAGMA journal_mode",
                                                         "PRAGMA temp_store = 1",
                                                         "PRAGMA max_page_count",
                                                         "SELECT load_extension('x')",
                                                         "SELECT fts3_tokenizer('simple')",
                                                         "SELECT * FROM pragma_database_list",
                                                         "SELECT * FROM pragma_function_list",
                                                         "SELECT * FROM sqlite_master",
                                                         "SELECT * FROM sqlite_schema",
                                                         "SELECT * FROM dbstat",
                                                         "SELECT * FROM sqlite_stmt",
                                                         "SELECT readfile('/etc/passwd')",
                                                         "SELECT writefile(" + name + ", 'x')",
                                                         "SELECT edit('x')",
                                                         "SELECT sqlite_version()",
                                                         "SELECT randomblob(9)",
                                                         "SELECT 1; SELECT 2",
                                                         "SELECT 1; DROP TABLE slices",
                                                         "",
                                                         "  ",
                                                         ";",
                                                         "-- nothing",
                                                         "nonsense",
                                                         "SELECT nope FROM slices",
                                                         "SELECT * FROM nope",
                                                         "SELECT nope(1)",
                                                         "SELECT ?",
                                                         "SELECT :x",
                                                         "WITH x AS (DELETE FROM slices) SELECT 1",
                                                         "WITH x(a) AS (SELECT 1) INSERT INTO slices SELECT a FROM x",
                                                         std::string("SELECT 1\0, 2", 12)})
    CHECK(kind_of_failure(sql) == ErrorKind::kUsage);
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("query faults: what is allowed besides is not refused by mistake") {
  for (const char* sql :
       {"SELECT 1;", "SELECT 1 -- the end", "VALUES (1), (2)", "EXPLAIN QUERY PLAN SELECT name FROM slices", "EXPLAIN SELECT 1",
        "SELECT value FROM json_each('[1, 2]')", "SELECT json_group_array(rule) FROM (SELECT 'x' AS rule)",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 9) SELECT sum(n) FROM c",
        "SELECT UPPER('x'), Count(*), row_number() OVER () FROM slices WHERE kind = 'set'", "SELECT sqrt(2), printf('%d', 3)"}) {
    INFO(sql);
    CHECK_FALSE(asked(kLlamaExport, sql).rows.empty());
  }
}

TEST_CASE("query faults: an error says what there is instead") {
  CHECK(failure_of("SELECT * FROM slcies").find("slices") != std::string::npos);
  CHECK(failure_of("SELECT durration FROM slices").find("duration_ns") != std::string::npos);
  CHECK(failure_of("SELECT name FROM slices WHERE kind = \"kernel\"").find("'kernel'") != std::string::npos);
  CHECK(failure_of("SELECT load_extension('x')").find("load_extension") != std::string::npos);
  CHECK(failure_of("DROP TABLE slices").find("only reads") != std::string::npos);
}

// A tenth of a second is asked for. What takes seconds longer does not look at its limit; the machine may be slow.
TEST_CASE("query faults: what runs for ever ends") {
  constexpr double kSurely = 20;
  const nl::query::Limits short_time{.rows = 0, .seconds = 0.1};
  CHECK(seconds_of("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c", ErrorKind::kTimeout,
                   short_time) < kSurely);
  CHECK(seconds_of("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n FROM c) SELECT n FROM c WHERE n = 2", ErrorKind::kTimeout,
                   short_time) < kSurely);
  CHECK(seconds_of("SELECT count(*) FROM slices a, slices b, slices c WHERE a.duration_ns + b.duration_ns = c.duration_ns",
                   ErrorKind::kTimeout, short_time) < kSurely);
  nl::query::Limits stopped;
  stopped.stopped = [] { return true; };
  CHECK(seconds_of("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c", ErrorKind::kInterrupted,
                   stopped) < kSurely);
}

TEST_CASE("query faults: what needs ten gigabytes ends") {
  const std::string endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) ";
  nl::query::Limits small{.rows = 0, .seconds = 60};
  small.memory_bytes = 32 << 20;
  small.answer_bytes = 8 << 20;
  CHECK(kind_of_failure("SELECT zeroblob(1000000000)", small) == ErrorKind::kUsage);
  CHECK(kind_of_failure("SELECT hex(zeroblob(3000000))", small) == ErrorKind::kUsage);
  CHECK(kind_of_failure("SELECT replace(printf('%.*c', 4000000, 'x'), 'x', 'yyyyyyyyyy')", small) == ErrorKind::kUsage);
  // SQLite tells that a text grew too long only once all rows are there: the time ends it.
  CHECK(kind_of_failure("SELECT group_concat(a.name || b.name) FROM slices a, slices b", {.seconds = 0.5}) == ErrorKind::kTimeout);
  CHECK(kind_of_failure(endless + "SELECT n, printf('%.*c', 1000000, 'x') AS t FROM c ORDER BY t", small) == ErrorKind::kUsage);
  CHECK(kind_of_failure(
            endless +
                "SELECT DISTINCT n || 'xxxxxxxxxxxxxxxxxxxxxxxx' FROM c WHERE n < 0 OR n % 2 = 0 OR n > 1 GROUP BY 1 HAVING count(*) > 1",
            small) == ErrorKind::kUsage);
  CHECK(kind_of_failure(endless + "SELECT n FROM c", small) == ErrorKind::kUsage);  // the answer itself
  CHECK(kind_of_failure(endless + "SELECT median(n) FROM c", {.seconds = 60, .memory_bytes = 1 << 20}) == ErrorKind::kUsage);
  const std::string deep = std::string(5000, '(') + "1" + std::string(5000, ')');
  CHECK(kind_of_failure("SELECT " + deep) == ErrorKind::kUsage);
  CHECK(kind_of_failure("SELECT '" + std::string(2 << 20, 'x') + "'") == ErrorKind::kUsage);
}

TEST_CASE("query faults: the rows of an answer are limited, and it says that there are more") {
  const auto some = asked(kLlamaExport, "SELECT name FROM slices", {.rows = 5});
  CHECK(some.rows.size() == 5);
  CHECK(some.truncated);
  const auto all = asked(kLlamaExport, "SELECT name FROM slices LIMIT 5", {.rows = 5});
  CHECK(all.rows.size() == 5);
  CHECK_FALSE(all.truncated);
}

TEST_CASE("query faults: a run that is not there, and captures that are none") {
  const auto fails = [](const std::string& run, const char* sql) {
    try {
      asked(run, sql);
    } catch (const Error& error) {
      return error.kind;
    }
    return ErrorKind::kInternal;
  };
  CHECK(fails("/no/such/run", "SELECT * FROM slices") == ErrorKind::kInput);
  CHECK(fails("/no/such/run", "SELECT * FROM findings") == ErrorKind::kInput);
  CHECK(fails(std::string(NL_FIXTURES) + "/README.md", "SELECT * FROM slices") == ErrorKind::kInput);
  CHECK(fails(std::string(NL_FIXTURES) + "/README.md", "SELECT * FROM findings") == ErrorKind::kInput);
}
