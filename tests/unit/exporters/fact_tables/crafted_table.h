#pragma once

#include <string>

#include "exporters/fact_tables/writer.h"

namespace nl::test {

// A table of one column, and as many rows as the run has iterations; `value` makes them from the number of the row.
inline exporters::fact_tables::Table table_of(exporters::fact_tables::Type type,
                                              std::function<exporters::fact_tables::Value(std::size_t)> value) {
  using namespace exporters::fact_tables;
  return {"crafted",
          "a row",
          {{"value", type, "", "a value", [value = std::move(value)](const Row& row) { return value(row.number); }}},
          [](const Run& run, const WorkloadIdentity& identity, const UseRow& use) {
            for (std::size_t i = 0; i < run.iterations.count; ++i) use({.run = run, .identity = identity, .number = i});
          }};
}

inline Run run_of_rows(std::size_t rows) {
  Run run;
  run.iterations.count = rows;
  return run;
}

// The file of a table with so many rows.
inline std::string file_of(exporters::fact_tables::Format format, const exporters::fact_tables::Table& table, std::size_t rows) {
  using namespace exporters::fact_tables;
  std::string file;
  TableStream stream(table, writer_of(format, table, [&file](std::string_view bytes) { file += bytes; }));
  stream.add(run_of_rows(rows), {});
  stream.finish();
  return file;
}

}  // namespace nl::test
