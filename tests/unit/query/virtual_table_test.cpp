#include <thread>

#include "query/connection.h"
#include "tests/unit/query/asked.h"

using nl::test::asked;
using nl::test::kLlamaExport;

// The oracle is SQLite itself, for which a subquery with OFFSET hides that the rows are those of a virtual table.
TEST_CASE("virtual tables: conditions and orders are those of SQLite, whoever evaluates them") {
  for (const char* rest : {
           "WHERE kind = 'kernel' ORDER BY duration_ns DESC, start_ns",
           "WHERE kind = 'kernel' AND duration_ns > 5000 ORDER BY start_ns",
           "WHERE kind = 'kernel' AND duration_ns >= 5000.5 ORDER BY start_ns DESC",
           "WHERE kind = 'kernel' AND duration_ns > 5e3 AND duration_ns <= 20000 ORDER BY short_name, start_ns",
           "WHERE kind IN ('copy', 'set') ORDER BY kind, start_ns",
           "WHERE kind = 'call' AND short_name = 'cudaLaunchKernel' ORDER BY start_ns LIMIT 50",
           "WHERE kind = 'call' AND short_name > 'cudaM' ORDER BY short_name DESC, start_ns LIMIT 50",
           "WHERE stream = 7 AND kind = 'copy' ORDER BY bytes, start_ns",
           "WHERE stream = '7' AND kind = 'copy' ORDER BY bytes, start_ns",
           "WHERE bytes IS NULL AND kind = 'copy' ORDER BY start_ns",
           "WHERE bytes = NULL ORDER BY start_ns",
           "WHERE kind = 'kernel' OR kind = 'set' ORDER BY gpu, kind DESC, end_ns",
           "WHERE stage = 'prefill' ORDER BY bytes DESC, kind, start_ns LIMIT 100",
           "WHERE name = 'no such name' ORDER BY id",
           "WHERE start_ns BETWEEN 1000000000 AND 3000000000 AND kind = 'range' ORDER BY id",
           "WHERE kind = 'KERNEL' COLLATE NOCASE ORDER BY id LIMIT 9",
       }) {
    INFO(rest);
    const std::string columns = "SELECT kind, name, start_ns, duration_ns, bytes, stream FROM ";
    const auto own = asked(kLlamaExport, columns + "slices " + rest);
    const auto plain = asked(kLlamaExport, columns + "(SELECT * FROM slices LIMIT -1 OFFSET 0) " + rest);
    CHECK(own.rows == plain.rows);
  }
}

TEST_CASE("virtual tables: groups are those of SQLite, by one column and by several") {
  for (const char* columns : {"kind", "short_name", "stage", "kind, stage", "stage, short_name", "gpu, direction, kind"}) {
    const std::string select = std::string("SELECT ") + columns + ", count(*), sum(duration_ns) FROM ";
    const std::string rest = std::string(" GROUP BY ") + columns + " ORDER BY " + columns;
    INFO(columns);
    CHECK(asked(kLlamaExport, select + "slices" + rest).rows ==
          asked(kLlamaExport, select + "(SELECT * FROM slices LIMIT -1 OFFSET 0)" + rest).rows);
  }
}

TEST_CASE("virtual tables: a join on a column looks rows up, and finds what a scan finds") {
  const auto joined = asked(kLlamaExport,
                            "SELECT w.id, count(*) FROM windows w JOIN slices s ON s.start_ns >= w.start_ns AND s.start_ns < w.end_ns AND "
                            "s.kind = 'kernel' GROUP BY w.id ORDER BY w.id");
  const auto scanned =
      asked(kLlamaExport,
            "SELECT w.id, (SELECT count(*) FROM (SELECT start_ns FROM slices WHERE kind = 'kernel' LIMIT -1 OFFSET 0) WHERE "
            "start_ns >= w.start_ns AND start_ns < w.end_ns) AS n FROM windows w WHERE n > 0 ORDER BY w.id");
  REQUIRE_FALSE(joined.rows.empty());
  CHECK(joined.rows == scanned.rows);
}

TEST_CASE("virtual tables: what a statement does not touch is not read") {
  const auto needs = [](const char* sql) {
    nl::query::Connection connection({});
    connection.prepare(sql);
    return connection.session().needs();
  };
  using namespace nl::query;
  CHECK(needs("SELECT 1") == 0);
  CHECK(needs("SELECT message FROM findings") == kRun);
  CHECK(needs("SELECT * FROM figures, kernels") == kRun);
  CHECK(needs("SELECT name, count(*) FROM slices WHERE kind = 'kernel' GROUP BY name") == kKernels);
  CHECK(needs("SELECT name FROM slices WHERE kind = 'copy' UNION ALL SELECT name FROM slices WHERE kind = 'kernel'") ==
        (kCopies | kKernels));
  CHECK(needs("SELECT launch_delay_ns FROM slices WHERE kind = 'kernel'") == (kKernels | kCalls));
  CHECK(needs("SELECT name FROM slices") == kTrace);
  CHECK((needs("SELECT stage FROM slices WHERE kind = 'kernel'") & kTrace) != 0);
  CHECK((needs("SELECT duration_ns FROM windows") & (kBins | kGaps | kRun)) == 0);
  CHECK((needs("SELECT launch_starved_ns FROM windows") & (kBins | kGaps)) == kBins);
  CHECK((needs("SELECT bin FROM gaps") & kGaps) != 0);
}

TEST_CASE("virtual tables: many threads ask at once") {
  const std::string sql = "SELECT short_name, count(*), median(duration_ns) FROM slices WHERE kind = 'kernel' GROUP BY 1 ORDER BY 1";
  const auto expected = asked(kLlamaExport, sql).rows;
  std::vector<nl::test::Cells> answers(6);
  std::vector<std::thread> threads;
  for (auto& answer : answers) threads.emplace_back([&] { answer = asked(kLlamaExport, sql).rows; });
  for (std::thread& thread : threads) thread.join();
  for (const auto& answer : answers) CHECK(answer == expected);
}

TEST_CASE("virtual tables: median and percentile by the rules of run.json") {
  const auto of = [](const char* expression, const char* values) {
    return asked(kLlamaExport, std::string("SELECT ") + expression + " FROM (SELECT value AS x FROM json_each('" + values + "'))")
        .rows[0][0];
  };
  using nl::query::Cell;
  CHECK(of("median(x)", "[3, 1, 2]") == Cell(2.0));
  CHECK(of("median(x)", "[4, 1, 2, null, 3]") == Cell(2.5));
  CHECK(of("median(x)", "[]") == Cell());
  CHECK(of("percentile(x, 95)", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]") == Cell(19.0));
  CHECK(of("percentile(x, 0)", "[5, 4]") == Cell(4.0));
  CHECK(of("percentile(x, 100)", "[5, 4]") == Cell(5.0));
  CHECK_THROWS(of("percentile(x, 101)", "[5, 4]"));
}
