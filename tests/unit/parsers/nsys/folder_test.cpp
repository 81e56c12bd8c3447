// One capture of an H200 in three exports of nsys 2025.3: SQLite, parquetdir and arrowdir.
#include <cstdlib>
#include <random>

#include "model/words.h"
#include "parsers/nsys/database.h"
#include "parsers/nsys/sqlite.h"
#include "tests/unit/files.h"
#include "tests/unit/parsers/nsys/crafted.h"
#include "tests/unit/told_trace.h"

using namespace nl;
using namespace nl::parsers;
using namespace nl::test;
namespace fs = std::filesystem;

namespace {

// run.sqlite, run_pqtdir/, run_arwdir/
struct Exports : Folder {
  Exports() {
    const std::string command = "tar -xJf '" NL_FIXTURES "/h200-exports/exports.tar.xz' -C '" + path.string() + "'";
    REQUIRE(std::system(command.c_str()) == 0);
  }
  fs::path sqlite() const { return path / "run.sqlite"; }
  std::vector<fs::path> folders() const { return {path / "run_pqtdir", path / "run_arwdir"}; }
};

fs::path table_file(const fs::path& folder, const std::string& table) {
  return folder / (table + (folder.filename() == "run_pqtdir" ? ".parquet" : ".arrow"));
}

void drop_table(const fs::path& sqlite, const std::string& table) {
  SQLite::Database(sqlite.string(), SQLite::OPEN_READWRITE).exec("DROP TABLE \"" + table + "\"");
}

// What the lines of the work leave out, and how the trace numbers things.
void check_same_trace(const Trace& trace, const Trace& expected) {
  CHECK(difference(trace, expected) == "");
  CHECK(trace.stats.rows_read == expected.stats.rows_read);
  CHECK(trace.stats.rows_damaged == expected.stats.rows_damaged);
  CHECK(trace.stats.tables_absent == expected.stats.tables_absent);
  CHECK(trace.stats.schema_version == expected.stats.schema_version);
  CHECK(trace.stats.tool_version == expected.stats.tool_version);
  CHECK(trace.stats.source_format == expected.stats.source_format);
  CHECK(trace.stats.notes.size() == expected.stats.notes.size());
  CHECK(trace.syncs.size() == expected.syncs.size());
  CHECK(trace.session_end_ns == expected.session_end_ns);
  CHECK(trace.last_range_event_ns == expected.last_range_event_ns);
  REQUIRE(trace.kernels.size() == expected.kernels.size());
  for (std::size_t i = 0; i < trace.kernels.size(); ++i) {
    const Kernel &a = trace.kernels[i], &b = expected.kernels[i];
    if (a.start_ns != b.start_ns || a.duration_ns != b.duration_ns || a.shape != b.shape || a.queue != b.queue || a.api != b.api)
      FAIL("kernel " << i);
  }
  REQUIRE(trace.api_stats.size() == expected.api_stats.size());
  for (std::size_t i = 0; i < trace.api_stats.size(); ++i)
    CHECK(trace.strings[trace.api_stats[i].name] == expected.strings[expected.api_stats[i].name]);
}

std::string folder_refusal(const fs::path& file) {
  try {
    read_nsys_sqlite(file);
    return "it was read";
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kInput);
    return error.message + " | " + error.where + " | " + error.fix;
  }
}

}  // namespace

TEST_CASE("folders of tables: Parquet and Arrow give the same trace as SQLite") {
  const Exports exports;
  for (const bool all_calls : {false, true}) {
    const Trace expected = read_nsys_sqlite(exports.sqlite(), {.all_calls = all_calls});
    CHECK(expected.kernels.size() > 400);
    CHECK(expected.ranges.size() > 10);
    CHECK(expected.stats.schema_version == "3.20.3");
    for (const fs::path& folder : exports.folders()) {
      INFO(folder.filename());
      check_same_trace(read_nsys_sqlite(folder, {.all_calls = all_calls}), expected);
    }
  }
}

TEST_CASE("folders of tables: what nsys did not write is absent, as in SQLite") {
  const Exports exports;
  for (const char* table : {"NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_MEMSET", "ENUM_CUDA_MEMCPY_OPER", "ThreadNames", "StringIds",
                            "CUPTI_ACTIVITY_KIND_RUNTIME", "TARGET_INFO_GPU", "CUPTI_ACTIVITY_KIND_KERNEL"}) {
    INFO(table);
    drop_table(exports.sqlite(), table);
    const Trace expected = read_nsys_sqlite(exports.sqlite());
    for (const fs::path& folder : exports.folders()) {
      fs::remove(table_file(folder, table));
      const Trace trace = read_nsys_sqlite(folder);
      CHECK(difference(trace, expected) == "");
      CHECK(trace.stats.tables_absent == expected.stats.tables_absent);
    }
  }
}

TEST_CASE("folders of tables: the machine is told, and nothing of its environment") {
  const Exports exports;
  CraftedExport made;
  made.sql(
      "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT); INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('CpuCores', '16'), "
      "('DeviceEnvironment', 'TOKEN=secret')");
  CHECK(read_nsys_machine(made.file) == std::map<std::string, std::string>{{"CpuCores", "16"}});
  for (const fs::path& folder : exports.folders()) CHECK(read_nsys_machine(folder).empty());
}

TEST_CASE("folders of tables: a folder of two exports or of none is refused") {
  const Exports exports;
  const std::vector<fs::path> folders = exports.folders();
  fs::copy_file(table_file(folders[1], "StringIds"), folders[0] / "StringIds.arrow");
  CHECK(folder_refusal(folders[0]) == "the folder has two exports of nsys, in Parquet and in Arrow | " + folders[0].string() +
                                          " | keep each in a folder of its own, and name one of them");
  const Folder other;
  fs::copy_file(table_file(folders[0], "StringIds"), other.path / "users.parquet");
  CHECK_FALSE(is_export_folder(other.path));
  CHECK(is_export_folder(folders[0]));
  CHECK(folder_refusal(other.path) ==
        "the folder has none of the tables of an nsys export, such as StringIds.parquet | " + other.path.string() +
            " | name the folder that nsys wrote: nsys export --type parquetdir --output FOLDER REPORT.nsys-rep");
}

TEST_CASE("folders of tables: a damaged table is named with its file") {
  const Exports exports;
  for (const fs::path& folder : exports.folders()) {
    const fs::path file = table_file(folder, "CUPTI_ACTIVITY_KIND_KERNEL");
    fs::resize_file(file, fs::file_size(file) / 2);
    const std::string refusal = folder_refusal(folder);
    const bool is_parquet = file.extension() == ".parquet";  // those of Arrow are streams
    CHECK(has(refusal, is_parquet ? "it may be cut short at " : ", and the file ends at "));
    CHECK(has(refusal, file.string()));
    CHECK(has(refusal, "copy it again"));
  }
}

TEST_CASE("folders of tables: changed bytes are refused or read, and nothing else") {
  const Exports exports;
  std::mt19937_64 random(7);
  std::size_t read = 0, refused = 0;
  for (const fs::path& folder : exports.folders())
    for (const char* table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "StringIds", "NVTX_EVENTS"}) {
      const fs::path file = table_file(folder, table);
      const std::string whole = read_text(file);
      for (int i = 0; i < 60; ++i) {
        std::string bytes = whole;
        for (int change = 0; change < 3; ++change) bytes[random() % bytes.size()] = static_cast<char>(random());
        std::ofstream(file, std::ios::binary) << bytes;
        try {
          read_nsys_sqlite(folder);
          ++read;
        } catch (const Error& error) {
          if (error.kind != ErrorKind::kInput) throw;
          ++refused;
        }
      }
      std::ofstream(file, std::ios::binary) << whole;
    }
  CHECK(read > 50);
  CHECK(refused > 20);
}

TEST_CASE("folders of tables: rows are divided between groups, each row once") {
  const Folder folder;
  fs::copy_file(NL_FIXTURES "/column_tables/snappy.parquet", folder.path / "NVTX_EVENTS.parquet");  // 150, 150 and 100 rows
  const NsysDatabase database(folder.path);
  const RowSpan span = database.rows_of("NVTX_EVENTS");
  CHECK(span.count == 400);
  CHECK_FALSE(database.has_table("StringIds"));
  CHECK_FALSE(database.is_row_key("NVTX_EVENTS", "start"));
  CHECK(database.rows_of("StringIds").count == 0);
  CHECK_FALSE(database.select("StringIds", {"id"}).next());
  CHECK(database.texts("StringIds", "id", "value") == nullptr);
  for (const std::size_t parts : {1u, 2u, 3u, 9u}) {
    const std::vector<RowSpan> spans = database.split("NVTX_EVENTS", span, parts);
    CHECK(spans.size() == std::min<std::size_t>(parts, 3));
    std::uint64_t rows = 0;
    for (const RowSpan& each : spans) {
      CHECK(static_cast<std::uint64_t>(each.first) == rows);
      NsysRows row = database.select("NVTX_EVENTS", {"start", "texts", "absent", "real", "words"}, each);
      std::uint64_t found = 0;
      for (; row.next(); ++found, ++rows)
        if (row.is_null(0) || row.text(1).empty() || !row.is_null(2) || !row.text(2).empty()) FAIL("row " << rows);
      CHECK(found == each.count);
    }
    CHECK(rows == 400);
  }
}

TEST_CASE("folders of tables: a value of another type than is asked for is turned into it as of SQLite") {
  const Folder folder;
  fs::copy_file(NL_FIXTURES "/column_tables/snappy.parquet", folder.path / "NVTX_EVENTS.parquet");
  const NsysDatabase database(folder.path);
  NsysRows row = database.select("NVTX_EVENTS", {"real", "start", "texts", "truth"});
  REQUIRE(row.next());
  CHECK(row.is_null(0));
  CHECK(row.integer(0) == 0);
  CHECK(row.text(0).empty());
  REQUIRE(row.next());
  CHECK(row.integer(0) == -49);  // of -49.666…
  CHECK(row.text(0) == "-49.6666666666667");
  CHECK(row.text(1) == "605000245");
  CHECK(row.integer(2) == 0);
  CHECK(row.text(3) == "0");
}
