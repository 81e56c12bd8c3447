#include "exporters/fact_tables/bytes.h"
#include "exporters/fact_tables/flat_table.h"
#include "exporters/fact_tables/writer.h"

// "ARROW1", the schema and the record batches as messages, an end, the footer, its length, "ARROW1". Numbers of fields and values are those
// of Schema.fbs, Message.fbs and File.fbs.
namespace nl::exporters::fact_tables {
namespace {

constexpr std::string_view kArrowMagic = "ARROW1";
constexpr std::size_t kBufferAlignment = 8;
constexpr std::uint32_t kContinued = 0xFFFFFFFF;  // stands before the length of a message

constexpr std::int16_t kMetadataVersion = 4;  // V5
enum Header : std::uint8_t { kSchemaMessage = 1, kBatchMessage = 3 };
enum FieldType : std::uint8_t { kIntField = 2, kFloatField = 3, kUtf8Field = 5, kBoolField = 6, kTimestampField = 10 };
constexpr std::int16_t kDoublePrecision = 2, kMicrosecond = 2;

struct FieldTypeTable {
  FieldType type;
  FlatTable details = {};
};

FieldTypeTable field_type(Type type) {
  switch (type) {
    case Type::kInteger: return {kIntField, FlatTable().number(0, std::int32_t{64}).number(1, true)};
    case Type::kReal: return {kFloatField, FlatTable().number(0, kDoublePrecision)};
    case Type::kBoolean: return {kBoolField};
    case Type::kTime: return {kTimestampField, FlatTable().number(0, kMicrosecond).text(1, "UTC")};
    case Type::kText: break;
  }
  return {kUtf8Field};
}

FlatTable pair(std::string_view key, std::string_view value) { return FlatTable().text(0, key).text(1, value); }

FlatTable field_of(const Column& column) {
  const auto [type, details] = field_type(column.type);
  FlatTable field;
  field.text(0, column.name).number(1, true).number(2, std::uint8_t{type}).part(3, details).parts(5, {});
  field.parts(6, {pair("unit", column.unit), pair("help", column.help)});
  return field;
}

FlatTable schema_of_table(const Table& table) {
  std::vector<FlatTable> fields;
  for (const Column& column : table.columns) fields.push_back(field_of(column));
  return FlatTable().number(0, std::int16_t{0}).parts(1, std::move(fields)).parts(2, {pair(kVersionKey, kFactsVersion)});
}

// The buffers of a batch, one after another, and where each lies.
struct Body {
  std::string bytes, places, nodes;
  std::size_t buffers = 0;

  void add(std::string_view buffer) {
    append_number(places, static_cast<std::int64_t>(bytes.size()));
    append_number(places, static_cast<std::int64_t>(buffer.size()));
    bytes += buffer;
    pad_to(bytes, kBufferAlignment);
    ++buffers;
  }
  template <class Number>
  void add_numbers(const std::vector<Number>& values) {
    std::string buffer;
    append_numbers(buffer, values);
    add(buffer);
  }
  void add_column(const Batch::Values& column);
};

void Body::add_column(const Batch::Values& column) {
  append_number(nodes, static_cast<std::int64_t>(column.known.size()));
  append_number(nodes, static_cast<std::int64_t>(column.nulls));
  add(column.nulls > 0 ? packed_bits(column.known) : std::string());
  switch (column.type) {
    case Type::kTime:
    case Type::kInteger: return add_numbers(column.integers);
    case Type::kReal: return add_numbers(column.reals);
    case Type::kBoolean: return add(packed_bits(column.booleans));
    case Type::kText: break;
  }
  std::vector<std::uint32_t> edges = {0};
  edges.insert(edges.end(), column.ends.begin(), column.ends.end());
  add_numbers(edges);
  add(column.texts);
}

class ArrowWriter : public Writer {
 public:
  ArrowWriter(const Table& table, Sink sink) : table_(table), sink_(std::move(sink)) {
    std::string begin(kArrowMagic);
    pad_to(begin, kBufferAlignment);
    put(begin);
    put_message(kSchemaMessage, schema_of_table(table_), {});
  }

  void write(const Batch& batch) override {
    Body body;
    for (const Batch::Values& column : batch.columns()) body.add_column(column);
    FlatTable header;
    header.number(0, static_cast<std::int64_t>(batch.rows()));
    header.structs(1, body.nodes, batch.columns().size()).structs(2, body.places, body.buffers);
    append_number(blocks_, written_);
    append_number(blocks_, put_message(kBatchMessage, std::move(header), body.bytes));
    append_number(blocks_, std::int32_t{0});
    append_number(blocks_, static_cast<std::int64_t>(body.bytes.size()));
    ++batches_;
  }

  void finish() override {
    FlatTable footer;
    footer.number(0, kMetadataVersion).part(1, schema_of_table(table_)).structs(2, {}, 0).structs(3, blocks_, batches_);
    std::string end;
    append_number(end, kContinued);
    append_number(end, std::uint32_t{0});
    const std::string bytes = footer.buffer();
    end += bytes;
    append_number(end, static_cast<std::int32_t>(bytes.size()));
    end += kArrowMagic;
    put(end);
  }

 private:
  // Returns how long it is without its body.
  std::int32_t put_message(Header type, FlatTable header, const std::string& body) {
    FlatTable message;
    message.number(0, kMetadataVersion).number(1, std::uint8_t{type}).part(2, std::move(header));
    const std::string bytes = message.number(3, static_cast<std::int64_t>(body.size())).buffer();
    std::string head;
    append_number(head, kContinued);
    append_number(head, static_cast<std::int32_t>(bytes.size()));
    head += bytes;
    put(head);
    put(body);
    return static_cast<std::int32_t>(head.size());
  }
  void put(std::string_view bytes) {
    sink_(bytes);
    written_ += static_cast<std::int64_t>(bytes.size());
  }

  const Table& table_;
  const Sink sink_;
  std::int64_t written_ = 0;
  std::string blocks_;
  std::size_t batches_ = 0;
};

}  // namespace

std::unique_ptr<Writer> arrow_writer(const Table& table, Sink sink) { return std::make_unique<ArrowWriter>(table, std::move(sink)); }

}  // namespace nl::exporters::fact_tables
