#pragma once

#include <string>

#include "exporters/fact_tables/writer.h"

namespace nl::exporters::fact_tables::test {

// A table of one column, and as many rows as the run has iterations; `value` makes them from the number of the row.
inline Table table_of(Type type, std::function<Value(std::size_t)> value) {
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
inline std::string file_of(Format format, const Table& table, std::size_t rows) {
  std::string file;
  TableStream stream(table, writer_of(format, table, [&file](std::string_view bytes) { file += bytes; }));
  stream.add(run_of_rows(rows), {});
  stream.finish();
  return file;
}

}  // namespace nl::exporters::fact_tables::test
