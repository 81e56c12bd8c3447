#include "parsers/arrow/messages.h"

#include <cstring>

#include <fmt/core.h>

#include "parsers/arrow/flat_reader.h"

namespace nl::parsers::arrow {
namespace {

constexpr std::string_view kMagic = "ARROW1";
constexpr std::size_t kBlockBytes = 24;           // where a message begins, and two lengths
constexpr std::uint32_t kContinued = 0xFFFFFFFF;  // stands before the length of a message since 0.15

enum MessageField { kHeaderType = 1, kHeader = 2, kBodyLength = 3 };
enum Header : std::uint8_t { kSchema = 1, kDictionaryBatch = 2, kRecordBatch = 3 };
enum FooterField { kFooterSchema = 1, kDictionaryBlocks = 2, kBatchBlocks = 3 };
enum SchemaField { kEndianness, kFields };
enum FieldField { kName, kNullable, kTypeKind, kTypeTable, kDictionary, kChildren };
enum BatchField { kLength, kNodes, kBuffers, kCompression };

constexpr std::uint32_t kDefaultIndexBytes = 4;

Layout layout_of(Type type, const std::optional<FlatTable>& details) {
  const auto detail = [&](std::size_t field, auto otherwise) { return details ? details->number(field, otherwise) : otherwise; };
  switch (type) {
    case Type::kInt: return {type, static_cast<std::uint32_t>(detail(0, std::int32_t{0})) / 8, detail(1, std::uint8_t{0}) != 0};
    case Type::kFloat: return {type, 2u << (detail(0, std::int16_t{0}) & 3)};
    case Type::kDate: return {type, detail(0, std::int16_t{1}) == 0 ? 4u : 8u};
    case Type::kTime: return {type, static_cast<std::uint32_t>(detail(1, std::int32_t{32})) / 8};
    case Type::kTimestamp:
    case Type::kDuration: return {type, 8};
    case Type::kFixedBinary: return {type, static_cast<std::uint32_t>(detail(0, std::int32_t{0}))};
    default: return {type};
  }
}

// Of values themselves, besides those of their children.
void count_parts(const columns::MappedFile& file, Type type, Field& field) {
  field.nodes += 1;
  switch (type) {
    case Type::kNull:
    case Type::kRunEnds: return;
    case Type::kStruct:
    case Type::kFixedList: field.buffers += 1; return;
    case Type::kUtf8:
    case Type::kBinary:
    case Type::kLargeUtf8:
    case Type::kLargeBinary: field.buffers += 3; return;
    case Type::kNone:
    case Type::kUnion: break;
    default:
      if (type > Type::kRunEnds) break;
      field.buffers += 2;
      return;
  }
  file.refused(fmt::format("column '{}' is a union, or of a type of later", field.name));
}

class SchemaReader {
 public:
  explicit SchemaReader(const columns::MappedFile& file) : file_(file) {}

  std::vector<Field> read(const FlatTable& schema) const {
    if (schema.number(kEndianness, std::int16_t{0}) != 0) file_.refused("its numbers have the highest byte first");
    std::vector<Field> fields;
    for (std::size_t i = 0; i < schema.count(kFields); ++i) fields.push_back(read_field(schema.part_of(kFields, i), 0));
    return fields;
  }

 private:
  static constexpr int kDeepest = 64;

  Field read_field(const FlatTable& table, int depth) const {
    if (depth > kDeepest) file_.damaged("its schema does not end");
    Field field;
    field.name = table.text(kName);
    field.layout = layout_of(static_cast<Type>(table.number(kTypeKind, std::uint8_t{0})), table.part(kTypeTable));
    if (const auto encoding = table.part(kDictionary)) {
      field.dictionary = encoding->number(0, std::int64_t{0});
      field.index = {Type::kInt, kDefaultIndexBytes};
      if (const auto index = encoding->part(1)) field.index = layout_of(Type::kInt, index);
      count_parts(file_, Type::kInt, field);
      return field;
    }
    count_parts(file_, field.layout.type, field);
    for (std::size_t i = 0; i < table.count(kChildren); ++i) {
      const Field child = read_field(table.part_of(kChildren, i), depth + 1);
      field.nodes += child.nodes;
      field.buffers += child.buffers;
    }
    return field;
  }

  const columns::MappedFile& file_;
};

columns::Codec codec_of(const columns::MappedFile& file, const FlatTable& batch) {
  const auto compression = batch.part(kCompression);
  if (!compression) return columns::Codec::kNone;
  const int codec = compression->number(0, std::int8_t{0});
  if (codec > 1 || codec < 0 || compression->number(1, std::int8_t{0}) != 0) file.refused(fmt::format("it is packed with codec {}", codec));
  return codec == 0 ? columns::Codec::kLz4Frame : columns::Codec::kZstd;
}

Batch read_batch(const columns::MappedFile& file, const FlatTable& table, std::uint64_t at, std::string_view body) {
  Batch batch;
  batch.at = at;
  batch.rows = static_cast<std::uint64_t>(table.number(kLength, std::int64_t{0}));
  batch.codec = codec_of(file, table);
  for (std::size_t i = 0; i < table.count(kNodes); ++i)
    batch.node_rows.push_back(table.buffer().number<std::uint64_t>(table.place_of(kNodes, i, 16)));
  for (std::size_t i = 0; i < table.count(kBuffers); ++i) {
    const std::size_t place = table.place_of(kBuffers, i, 16);
    const auto begin = table.buffer().number<std::uint64_t>(place), size = table.buffer().number<std::uint64_t>(place + 8);
    if (begin > body.size() || size > body.size() - begin)
      file.damaged(fmt::format("buffer {} of the batch at byte {} ends behind its message", i, at));
    batch.buffers.push_back(body.substr(begin, size));
  }
  return batch;
}

class MessageReader {
 public:
  explicit MessageReader(const columns::MappedFile& file) : file_(file) {}

  Messages read() {
    if (file_.bytes().starts_with(kMagic)) read_footer();
    else
      while (read_message()) {
      }
    if (!has_schema_) file_.damaged("it has no schema");
    return std::move(messages_);
  }

 private:
  // Behind the messages: the schema, and where the batches are; then its length and ARROW1.
  void read_footer() {
    const std::string_view bytes = file_.bytes();
    std::uint32_t size = 0;
    const std::size_t end = kMagic.size() + sizeof size;
    if (bytes.size() < kMagic.size() + end || !bytes.ends_with(kMagic))
      file_.damaged(fmt::format("it does not end with ARROW1; it may be cut short at {} bytes", bytes.size()));
    std::memcpy(&size, bytes.data() + bytes.size() - end, sizeof size);
    if (size > bytes.size() - end) file_.damaged(fmt::format("its footer would have {} bytes, and the file has {}", size, bytes.size()));
    const FlatTable footer = FlatTable::root(FlatBuffer(file_, bytes.substr(bytes.size() - end - size, size), "its footer"));
    if (const auto schema = footer.part(kFooterSchema)) add(kSchema, *schema, {});
    for (const FooterField blocks : {kDictionaryBlocks, kBatchBlocks})
      for (std::size_t i = 0; i < footer.count(blocks); ++i) {
        at_ = footer.buffer().number<std::uint64_t>(footer.place_of(blocks, i, kBlockBytes));
        read_message();
      }
  }

  std::string_view take(std::uint64_t size) {
    const std::string_view taken = file_.part(at_, size, fmt::format("the message at byte {}", begin_));
    at_ += taken.size();
    return taken;
  }

  std::uint32_t take_length() {
    std::uint32_t length = 0;
    std::memcpy(&length, take(sizeof length).data(), sizeof length);
    return length;
  }

  // False at the mark of the end, which nsys writes behind every stream.
  bool read_message() {
    begin_ = at_;
    if (at_ == file_.bytes().size()) file_.damaged(fmt::format("it has no mark of its end; it may be cut short at {} bytes", at_));
    std::uint32_t length = take_length();
    if (length == kContinued) length = take_length();
    if (length == 0) return false;
    const std::string what = fmt::format("the message at byte {}", begin_);
    const FlatTable message = FlatTable::root(FlatBuffer(file_, take(length), what));
    const std::string_view body = take(static_cast<std::uint64_t>(message.number(kBodyLength, std::int64_t{0})));
    if (const auto header = message.part(kHeader)) add(message.number(kHeaderType, std::uint8_t{0}), *header, body);
    return true;
  }

  void add(std::uint8_t type, const FlatTable& header, std::string_view body) {
    if (type == kSchema && !has_schema_) {
      messages_.fields = SchemaReader(file_).read(header);
      has_schema_ = true;
    } else if (type == kRecordBatch) {
      messages_.batches.push_back(read_batch(file_, header, begin_, body));
    } else if (type == kDictionaryBatch) {
      add_dictionary(header, body);
    }
  }

  void add_dictionary(const FlatTable& header, std::string_view body) {
    std::vector<Batch>& parts = messages_.dictionaries[header.number(0, std::int64_t{0})];
    const bool adds = header.number(2, std::uint8_t{0}) != 0;
    if (!adds && !parts.empty()) file_.refused("one of its dictionaries is replaced by a later one");
    if (const auto batch = header.part(1)) parts.push_back(read_batch(file_, *batch, begin_, body));
  }

  const columns::MappedFile& file_;
  std::uint64_t at_ = 0, begin_ = 0;  // in the file; of the message
  bool has_schema_ = false;
  Messages messages_;
};

}  // namespace

Messages read_messages(const columns::MappedFile& file) { return MessageReader(file).read(); }

}  // namespace nl::parsers::arrow
