// What was sampled of the GPU, in the tables that nsys has for its own samples.
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "exporters/nsys_sqlite/nsys_sqlite.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using nl::test::Folder;

namespace {

// Rows as text, columns parted by '|'.
std::vector<std::string> answer(const std::filesystem::path& file, const std::string& query) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
  std::vector<std::string> rows;
  const auto row = [](void* out, int columns, char** values, char**) {
    std::string line;
    for (int i = 0; i < columns; ++i) line += std::string(i == 0 ? "" : "|") + (values[i] == nullptr ? "NULL" : values[i]);
    static_cast<std::vector<std::string>*>(out)->push_back(line);
    return 0;
  };
  CHECK(sqlite3_exec(database, query.c_str(), row, &rows, nullptr) == SQLITE_OK);
  sqlite3_close(database);
  return rows;
}

nl::Trace sampled_trace() {
  nl::Trace trace;
  trace.has_kernel_data = true;
  nl::MetricSeries series;
  series.metrics = {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "dram__bytes_write.sum"};
  series.start_ns = {1000, 2000, 3000};
  series.duration_ns = {1000, 1000, 2000};
  series.values = {0.25f, 4096, 0.5f, std::numeric_limits<float>::quiet_NaN(), 3, 8192};
  trace.metric_series = {series, series};
  trace.metric_series[1].device = 1;
  trace.metric_series[1].metrics = {"dram__bytes_write.sum", "gpc__cycles_elapsed.avg.per_second"};
  trace.metric_series[1].start_ns.resize(1);
  return trace;
}

using Rows = std::vector<std::string>;

}  // namespace

TEST_CASE("samples are in nsys' tables: means by metric, the GPU in the type's last byte") {
  const Folder folder;
  const auto file = folder.path / "ours.sqlite";
  nl::exporters::write_nsys_sqlite(sampled_trace(), file);
  CHECK(answer(file,
               "SELECT typeId & 0xFF, metricName, count(*), avg(value) FROM GPU_METRICS JOIN TARGET_INFO_GPU_METRICS "
               "USING (typeId, metricId) GROUP BY 1, 2 ORDER BY 1, 2") ==
        Rows{"0|dram__bytes_write.sum.per_second|2|4096000000.0", "0|sm__cycles_active.avg.pct_of_peak_sustained_elapsed|3|1.25",
             "1|dram__bytes_write.sum.per_second|1|250000.0", "1|gpc__cycles_elapsed.avg.per_second|1|4096.0"});
  CHECK(answer(file, "SELECT timestamp, value, typeof(value) FROM GPU_METRICS WHERE typeId = 0 AND metricId = 0") ==
        Rows{"1000|0.25|real", "2000|0.5|real", "3000|3|integer"});
  // One metric has one number on every GPU, and a name in nsys' words of its type.
  CHECK(answer(file, "SELECT typeId, sourceId, typeName, metricId FROM TARGET_INFO_GPU_METRICS WHERE metricName LIKE 'dram%' ORDER BY 1") ==
        Rows{"0|0|GPU Metrics [0]|1", "1|0|GPU Metrics [1]|1"});
}

TEST_CASE("without samples there are no tables of them, and with them the rest is read as before") {
  const Folder folder;
  nl::Trace trace = sampled_trace();
  nl::exporters::write_nsys_sqlite(trace, folder.path / "with.sqlite");
  CHECK(nl::parsers::read_nsys_sqlite(folder.path / "with.sqlite").has_kernel_data);
  trace.metric_series.clear();
  nl::exporters::write_nsys_sqlite(trace, folder.path / "without.sqlite");
  CHECK(answer(folder.path / "without.sqlite", "SELECT name FROM sqlite_master WHERE name LIKE '%GPU_METRICS%'").empty());
}

TEST_CASE("a series that is cut off is written as far as it goes") {
  const Folder folder;
  nl::Trace trace = sampled_trace();
  trace.metric_series.resize(1);
  trace.metric_series[0].values.resize(3);
  trace.metric_series[0].duration_ns.resize(2);
  nl::exporters::write_nsys_sqlite(trace, folder.path / "ours.sqlite");
  CHECK(answer(folder.path / "ours.sqlite", "SELECT timestamp, metricId, value FROM GPU_METRICS") ==
        Rows{"1000|0|0.25", "1000|1|4096000000", "2000|0|0.5"});
}
