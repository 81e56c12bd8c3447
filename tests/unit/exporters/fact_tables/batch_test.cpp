#include "exporters/fact_tables/batch.h"

#include <limits>

#include "tests/catch.h"
#include "tests/unit/exporters/fact_tables/crafted_table.h"

namespace nl::exporters::fact_tables::test {
namespace {

Batch batch_of(const Table& table, std::size_t rows) {
  Batch batch(table);
  const nl::Run run = run_of_rows(rows);
  table.each_row(run, {}, [&](const Row& row) { batch.add(row); });
  return batch;
}

// What reaches a writer, and how much at once.
struct Counts {
  std::size_t batches = 0, rows = 0, most_rows = 0, most_text = 0;
  bool finished = false;
};

class CountingWriter : public Writer {
 public:
  explicit CountingWriter(Counts& counts) : counts_(counts) {}
  void write(const Batch& batch) override {
    ++counts_.batches;
    counts_.rows += batch.rows();
    counts_.most_rows = std::max(counts_.most_rows, batch.rows());
    counts_.most_text = std::max(counts_.most_text, batch.columns()[0].texts.size());
  }
  void finish() override { counts_.finished = true; }

 private:
  Counts& counts_;
};

Counts streamed(const Table& table, std::size_t runs, std::size_t rows_each) {
  Counts counts;
  TableStream stream(table, std::make_unique<CountingWriter>(counts));
  for (std::size_t i = 0; i < runs; ++i) stream.add(run_of_rows(rows_each), {});
  stream.finish();
  CHECK(stream.rows() == counts.rows);
  return counts;
}

}  // namespace

TEST_CASE("fact tables batch: a number that is not finite is null") {
  const double values[] = {1.5, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity(), -0.0};
  const Batch::Values column = batch_of(table_of(Type::kReal, [&](std::size_t row) { return Value(values[row]); }), 5).columns()[0];
  CHECK(column.known == std::vector<bool>{true, false, false, false, true});
  CHECK(column.nulls == 3);
  CHECK(column.reals[1] == 0);
}

TEST_CASE("fact tables batch: texts stay as they are, and bytes that are not UTF-8 become U+FFFD") {
  const std::string values[] = {"θ 漢字 🚀", "", std::string("a\0b", 3), "x\xff", "\xe2\x82"};
  const Table table = table_of(Type::kText, [&](std::size_t row) { return Value(values[row]); });
  const Batch batch = batch_of(table, 5);
  const Batch::Values& column = batch.columns()[0];
  CHECK(column.text(0) == values[0]);
  CHECK(column.text(1).empty());
  CHECK(column.known[1]);
  CHECK(column.text(2) == values[2]);
  CHECK(column.text(3) == "x\xef\xbf\xbd");
  CHECK(column.text(4).find("\xef\xbf\xbd") == 0);
}

TEST_CASE("fact tables batch: a million rows are never held all together") {
  const Counts many = streamed(table_of(Type::kInteger, [](std::size_t row) { return count(row); }), 100, 10'000);
  CHECK(many.rows == 1'000'000);
  CHECK(many.most_rows == Batch::kMostRows);
  CHECK(many.batches == 1'000'000 / Batch::kMostRows + 1);
  CHECK(many.finished);
}

TEST_CASE("fact tables batch: large texts end a batch before it has many rows") {
  const std::string large(3 << 20, 'x');
  const Counts texts = streamed(table_of(Type::kText, [&](std::size_t) { return Value(large); }), 1, 20);
  CHECK(texts.rows == 20);
  CHECK(texts.most_text <= Batch::kMostBytes + large.size());
}

TEST_CASE("fact tables batch: without rows nothing is written but the ends") {
  const Counts none = streamed(table_of(Type::kInteger, [](std::size_t row) { return count(row); }), 3, 0);
  CHECK(none.batches == 0);
  CHECK(none.finished);
}

}  // namespace nl::exporters::fact_tables::test
