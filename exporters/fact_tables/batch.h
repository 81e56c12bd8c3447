#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/fact_tables/table.h"

namespace nl::exporters::fact_tables {

// Some rows of a table, column by column: what is written at once, as a row group or a record batch.
class Batch {
 public:
  // A batch is full with either: the rows of a file never lie in memory all together.
  static constexpr std::size_t kMostRows = 65'536, kMostBytes = 16 << 20;

  struct Values {  // one for each row; where it is not known, nothing or an empty text
    Type type;
    std::vector<bool> known = {};
    std::size_t nulls = 0;
    std::vector<std::int64_t> integers = {};  // times, too
    std::vector<double> reals = {};
    std::vector<bool> booleans = {};
    std::string texts = {};                // one after another,
    std::vector<std::uint32_t> ends = {};  // and where each ends

    std::string_view text(std::size_t row) const {
      const std::size_t begin = row > 0 ? ends[row - 1] : 0;
      return std::string_view(texts).substr(begin, ends[row] - begin);
    }
  };

  explicit Batch(const Table& table);
  void add(const Row& row);
  void clear();

  std::size_t rows() const { return rows_; }
  bool is_full() const { return rows_ >= kMostRows || bytes_ >= kMostBytes; }
  const std::vector<Values>& columns() const { return columns_; }

 private:
  void add(Values& column, const Value& value);

  const Table& table_;
  std::vector<Values> columns_;
  std::size_t rows_ = 0, bytes_ = 0;
};

}  // namespace nl::exporters::fact_tables
