#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "query/sources.h"

// Questions about a run in SQL: a read-only SQLite over the tables of table.h, without a copy of the capture. Every query has a
// connection of its own, so that any number of threads may ask at once.
namespace nl::query {

struct Limits {
  std::uint64_t rows = 1000;                  // of the answer; 0: all
  double seconds = 30;                        // for the query itself, once the run is read
  std::uint64_t memory_bytes = 512ull << 20;  // that SQLite may need for sorting and grouping; of queries at a time together
  std::uint64_t answer_bytes = 256ull << 20;  // of all rows together
  std::function<bool()> stopped = {};         // true: the query ends with Error(kInterrupted)
};

using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;

struct AnswerColumn {
  std::string name;
  std::string unit;  // empty: none, or not known
};

struct Answer {
  std::vector<AnswerColumn> columns;
  std::vector<std::vector<Cell>> rows;
  bool truncated = false;          // there are more rows than the limit
  double read_ms = 0;              // of the run
  double query_ms = 0;             // of the query itself
  std::vector<std::string> notes;  // why a table that was asked has no rows
};

// One statement that reads. Throws Error(kUsage) where it is not that, asks for what is not there, or needs more than the limits allow;
// Error(kTimeout) where it takes longer; Error(kInput) where the run cannot be read.
Answer ask(const Subject& subject, const std::string& sql, const Limits& limits = {});

// For a terminal, not wider than `width`; 0: as wide as it is.
std::string answer_text(const Answer& answer, std::size_t width);
// RFC 4180, with a head. NULL is an empty field.
std::string answer_csv(const Answer& answer);
// {columns: [{name, unit}], rows: [[…]], row_count, truncated, read_ms, query_ms, notes}
std::string answer_json(const Answer& answer);
// "1000 rows are shown; there are more: --limit N shows N, --limit 0 all", and the notes; empty: nothing to say
std::string answer_remarks(const Answer& answer);

}  // namespace nl::query
