#include "exporters/fact_tables/bytes.h"
#include "exporters/fact_tables/thrift.h"
#include "exporters/fact_tables/writer.h"

// "PAR1", the column chunks of each row group, each of one page, the footer, its length, "PAR1". Every column may be null, values are plain
// and not compressed. Names and numbers are those of parquet.thrift.
namespace nl::exporters::fact_tables {
namespace {

constexpr std::string_view kParquetMagic = "PAR1";

enum PhysicalType : std::int32_t { kBooleanType = 0, kInt64Type = 2, kDoubleType = 5, kByteArrayType = 6 };
enum Encoding : std::int32_t { kPlain = 0, kRle = 3 };
enum ConvertedType : std::int32_t { kUtf8 = 0, kTimestampMicros = 10 };
constexpr std::int32_t kOptional = 1, kUncompressed = 0, kDataPage = 0, kParquetVersion = 1;

PhysicalType physical_type(Type type) {
  switch (type) {
    case Type::kReal: return kDoubleType;
    case Type::kText: return kByteArrayType;
    case Type::kBoolean: return kBooleanType;
    default: return kInt64Type;
  }
}

ThriftStruct schema_element(const Column& column) {
  ThriftStruct element;
  element.i32(1, physical_type(column.type)).i32(3, kOptional).text(4, column.name);
  if (column.type == Type::kText) element.i32(6, kUtf8).part(10, ThriftStruct().part(1, {}));
  if (column.type == Type::kTime) {
    const ThriftStruct microseconds = ThriftStruct().part(2, {});
    element.i32(6, kTimestampMicros).part(10, ThriftStruct().part(8, ThriftStruct().boolean(1, true).part(2, microseconds)));
  }
  return element;
}

std::vector<ThriftStruct> schema_of(const Table& table) {
  std::vector<ThriftStruct> schema = {ThriftStruct().text(4, table.name).i32(5, static_cast<std::int32_t>(table.columns.size()))};
  for (const Column& column : table.columns) schema.push_back(schema_element(column));
  return schema;
}

// Which values are there: their length, then one run of bits, eight values a group.
std::string definition_levels(const std::vector<bool>& known) {
  const std::string bits = packed_bits(known);
  std::string run;
  std::uint64_t head = bits.size() << 1 | 1;
  for (; head >= 0x80; head >>= 7) run += static_cast<char>(head | 0x80);
  run += static_cast<char>(head);
  run += bits;
  std::string out;
  append_number(out, static_cast<std::uint32_t>(run.size()));
  return out + run;
}

void append_text(std::string& out, std::string_view text) {
  append_number(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

// Only those that are known.
std::string plain_values(const Batch::Values& column) {
  std::string out;
  std::vector<bool> booleans;
  for (std::size_t row = 0; row < column.known.size(); ++row) {
    if (!column.known[row]) continue;
    switch (column.type) {
      case Type::kTime:
      case Type::kInteger: append_number(out, column.integers[row]); break;
      case Type::kReal: append_number(out, column.reals[row]); break;
      case Type::kBoolean: booleans.push_back(column.booleans[row]); break;
      case Type::kText: append_text(out, column.text(row));
    }
  }
  return column.type == Type::kBoolean ? packed_bits(booleans) : out;
}

std::string page_of(const Batch::Values& column) {
  const std::string body = definition_levels(column.known) + plain_values(column);
  const auto size = static_cast<std::int32_t>(body.size());
  const ThriftStruct data = ThriftStruct().i32(1, static_cast<std::int32_t>(column.known.size())).i32(2, kPlain).i32(3, kRle).i32(4, kRle);
  return ThriftStruct().i32(1, kDataPage).i32(2, size).i32(3, size).part(5, data).bytes() + body;
}

class ParquetWriter : public Writer {
 public:
  ParquetWriter(const Table& table, Sink sink) : table_(table), sink_(std::move(sink)) { put(kParquetMagic); }

  void write(const Batch& batch) override {
    std::vector<ThriftStruct> chunks;
    const std::int64_t begin = written_;
    for (std::size_t i = 0; i < batch.columns().size(); ++i) chunks.push_back(write_chunk(table_.columns[i], batch.columns()[i]));
    const auto rows = static_cast<std::int64_t>(batch.rows());
    groups_.push_back(ThriftStruct().parts(1, chunks).i64(2, written_ - begin).i64(3, rows));
    rows_ += rows;
  }

  void finish() override {
    std::string footer = ThriftStruct()
                             .i32(1, kParquetVersion)
                             .parts(2, schema_of(table_))
                             .i64(3, rows_)
                             .parts(4, groups_)
                             .parts(5, {ThriftStruct().text(1, kVersionKey).text(2, kFactsVersion)})
                             .text(6, std::string("nl-stage-facts version ") + kFactsVersion)  // readers take it apart
                             .bytes();
    append_number(footer, static_cast<std::uint32_t>(footer.size()));
    put(footer);
    put(kParquetMagic);
  }

 private:
  ThriftStruct write_chunk(const Column& column, const Batch::Values& values) {
    const std::int64_t begin = written_;
    put(page_of(values));
    const std::int64_t size = written_ - begin;
    const ThriftStruct statistics = ThriftStruct().i64(3, static_cast<std::int64_t>(values.nulls));
    const ThriftStruct data = ThriftStruct()
                                  .i32(1, physical_type(column.type))
                                  .i32s(2, {kPlain, kRle})
                                  .texts(3, {column.name})
                                  .i32(4, kUncompressed)
                                  .i64(5, static_cast<std::int64_t>(values.known.size()))
                                  .i64(6, size)
                                  .i64(7, size)
                                  .i64(9, begin)
                                  .part(12, statistics);
    return ThriftStruct().i64(2, begin).part(3, data);
  }
  void put(std::string_view bytes) {
    sink_(bytes);
    written_ += static_cast<std::int64_t>(bytes.size());
  }

  const Table& table_;
  const Sink sink_;
  std::int64_t written_ = 0, rows_ = 0;
  std::vector<ThriftStruct> groups_;
};

}  // namespace

std::unique_ptr<Writer> parquet_writer(const Table& table, Sink sink) { return std::make_unique<ParquetWriter>(table, std::move(sink)); }

}  // namespace nl::exporters::fact_tables
