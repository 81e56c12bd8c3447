#include "parsers/parquet/metadata.h"

#include <cstring>

#include <fmt/core.h>

#include "parsers/parquet/thrift.h"

namespace nl::parsers::parquet {
namespace {

using Kind = ThriftReader::Kind;

constexpr std::string_view kMagic = "PAR1", kEncryptedMagic = "PARE";

struct SchemaElement {
  std::int32_t type = -1, fixed_bytes = 0, repetition = 0, children = 0, converted = -1;
  std::string_view name;
  bool is_unsigned = false;
  bool is_leaf() const { return type >= 0; }
};

enum Repetition { kRequired, kOptional, kRepeated };
constexpr std::int32_t kFirstUnsigned = 11, kLastUnsigned = 14;  // UINT_8 … UINT_64

// Of the union LogicalType: INTEGER has its bits and whether it is signed.
bool read_logical_type(ThriftReader& reader, SchemaElement& element) {
  constexpr int kInteger = 10;
  reader.fields([&](std::int64_t field, Kind kind) {
    if (field != kInteger || kind != Kind::kStruct) return false;
    bool is_signed = true;
    reader.fields([&](std::int64_t part, Kind of) { return part == 2 && reader.truth(of, is_signed); });
    element.is_unsigned = !is_signed;
    return true;
  });
  return true;
}

SchemaElement read_schema_element(ThriftReader& reader) {
  SchemaElement element;
  reader.fields([&](std::int64_t field, Kind kind) {
    switch (field) {
      case 1: return reader.number(kind, element.type);
      case 2: return reader.number(kind, element.fixed_bytes);
      case 3: return reader.number(kind, element.repetition);
      case 4: return reader.text(kind, element.name);
      case 5: return reader.number(kind, element.children);
      case 6: return reader.number(kind, element.converted);
      case 10: return kind == Kind::kStruct && read_logical_type(reader, element);
      default: return false;
    }
  });
  if (element.converted >= kFirstUnsigned && element.converted <= kLastUnsigned) element.is_unsigned = true;
  return element;
}

// Dictionary pages stand before the others, and writers may leave their place out.
bool read_column_metadata(ThriftReader& reader, Chunk& chunk) {
  std::int64_t data_begin = -1, dictionary_begin = 0, bytes = -1;
  reader.fields([&](std::int64_t field, Kind kind) {
    switch (field) {
      case 1: return reader.number(kind, chunk.type);
      case 4: return reader.number(kind, chunk.codec);
      case 7: return reader.number(kind, bytes);
      case 9: return reader.number(kind, data_begin);
      case 11: return reader.number(kind, dictionary_begin);
      default: return false;
    }
  });
  chunk.begin = static_cast<std::uint64_t>(dictionary_begin > 0 && dictionary_begin < data_begin ? dictionary_begin : data_begin);
  chunk.bytes = static_cast<std::uint64_t>(bytes);
  return true;
}

Chunk read_chunk(ThriftReader& reader) {
  Chunk chunk;
  bool has_metadata = false;
  reader.fields([&](std::int64_t field, Kind kind) {
    if (field == 3 && kind == Kind::kStruct) return has_metadata = read_column_metadata(reader, chunk);
    if (field == 1 || field == 8) chunk.is_elsewhere = true;
    return false;
  });
  chunk.is_elsewhere |= !has_metadata;
  return chunk;
}

RowGroup read_row_group(ThriftReader& reader) {
  RowGroup group;
  reader.fields([&](std::int64_t field, Kind kind) {
    if (field == 1) return reader.structs(kind, [&] { group.chunks.push_back(read_chunk(reader)); });
    return field == 3 && reader.number(kind, group.rows);
  });
  return group;
}

// The elements are a tree in the order in which one walks it; leaves are the columns.
class SchemaTree {
 public:
  SchemaTree(const columns::MappedFile& file, const std::vector<SchemaElement>& elements) : file_(file), elements_(elements) {}

  std::vector<ColumnSchema> columns() {
    if (elements_.empty()) file_.damaged("its footer has no columns");
    const std::int32_t children = elements_[at_++].children;
    for (std::int32_t i = 0; i < children; ++i) add("", false, 0);
    return std::move(columns_);
  }

 private:
  static constexpr int kDeepest = 64;

  void add(const std::string& above, bool is_nested, int depth) {
    if (at_ >= elements_.size() || depth > kDeepest) file_.damaged("the tree of columns in its footer does not end");
    const SchemaElement& element = elements_[at_++];
    const std::string name = above.empty() ? std::string(element.name) : fmt::format("{}.{}", above, element.name);
    is_nested |= element.repetition == kRepeated;
    if (!element.is_leaf()) {
      for (std::int32_t i = 0; i < element.children; ++i) add(name, true, depth + 1);
      return;
    }
    if (element.type > static_cast<std::int32_t>(PhysicalType::kFixedBytes) || element.fixed_bytes < 0)
      file_.damaged(fmt::format("column '{}' is of no type", name));
    columns_.push_back({name, static_cast<PhysicalType>(element.type), static_cast<std::uint32_t>(element.fixed_bytes), element.is_unsigned,
                        element.repetition == kOptional, is_nested});
  }

  const columns::MappedFile& file_;
  const std::vector<SchemaElement>& elements_;
  std::size_t at_ = 0;
  std::vector<ColumnSchema> columns_;
};

std::string_view footer_of(const columns::MappedFile& file) {
  const std::string_view bytes = file.bytes();
  constexpr std::size_t kEnd = 8;
  if (bytes.size() >= kEnd && bytes.ends_with(kEncryptedMagic)) file.refused("it is encrypted");
  if (bytes.size() < kMagic.size() + kEnd || !bytes.starts_with(kMagic)) file.damaged("it does not begin with PAR1");
  if (!bytes.ends_with(kMagic)) file.damaged(fmt::format("it does not end with PAR1; it may be cut short at {} bytes", bytes.size()));
  std::uint32_t size = 0;
  std::memcpy(&size, bytes.data() + bytes.size() - kEnd, sizeof size);
  if (size > bytes.size() - kMagic.size() - kEnd)
    file.damaged(fmt::format("its footer would have {} bytes, and the file has {}", size, bytes.size()));
  return bytes.substr(bytes.size() - kEnd - size, size);
}

void check_chunks(const columns::MappedFile& file, const Metadata& metadata) {
  for (std::size_t i = 0; i < metadata.groups.size(); ++i)
    if (metadata.groups[i].chunks.size() != metadata.columns.size())
      file.damaged(
          fmt::format("row group {} has {} columns, and the table has {}", i, metadata.groups[i].chunks.size(), metadata.columns.size()));
}

}  // namespace

Metadata read_metadata(const columns::MappedFile& file) {
  ThriftReader reader(file, footer_of(file), "its footer");
  std::vector<SchemaElement> elements;
  Metadata metadata;
  reader.fields([&](std::int64_t field, Kind kind) {
    if (field == 2) return reader.structs(kind, [&] { elements.push_back(read_schema_element(reader)); });
    if (field == 4) return reader.structs(kind, [&] { metadata.groups.push_back(read_row_group(reader)); });
    return false;
  });
  metadata.columns = SchemaTree(file, elements).columns();
  check_chunks(file, metadata);
  return metadata;
}

namespace {

bool read_data_header(ThriftReader& reader, PageHeader& header) {
  reader.fields([&](std::int64_t field, Kind kind) {
    switch (field) {
      case 1: return reader.number(kind, header.values);
      case 2: return reader.number(kind, header.encoding);
      case 3: return header.kind == PageHeader::kData && reader.number(kind, header.level_encoding);
      default: return false;
    }
  });
  return true;
}

bool read_data_header_2(ThriftReader& reader, PageHeader& header) {
  reader.fields([&](std::int64_t field, Kind kind) {
    switch (field) {
      case 1: return reader.number(kind, header.values);
      case 4: return reader.number(kind, header.encoding);
      case 5: return reader.number(kind, header.definition_bytes);
      case 6: return reader.number(kind, header.repetition_bytes);
      case 7: return reader.truth(kind, header.is_packed);
      default: return false;
    }
  });
  return true;
}

}  // namespace

PageHeader read_page_header(const columns::MappedFile& file, std::string_view bytes, std::string_view what) {
  ThriftReader reader(file, bytes, what);
  PageHeader header;
  reader.fields([&](std::int64_t field, Kind kind) {
    switch (field) {
      case 1: return reader.number(kind, header.kind);
      case 2: return reader.number(kind, header.unpacked_bytes);
      case 3: return reader.number(kind, header.bytes);
      case 5:
      case 7: return kind == Kind::kStruct && read_data_header(reader, header);
      case 8: return kind == Kind::kStruct && read_data_header_2(reader, header);
      default: return false;
    }
  });
  if (header.bytes < 0 || header.unpacked_bytes < 0 || (header.kind != PageHeader::kIndex && header.values < 0)) reader.damaged();
  header.header_bytes = reader.used();
  return header;
}

columns::Codec codec_of(const columns::MappedFile& file, std::int32_t number) {
  switch (number) {
    case 0: return columns::Codec::kNone;
    case 1: return columns::Codec::kSnappy;
    case 2: return columns::Codec::kGzip;
    case 6: return columns::Codec::kZstd;
    case 7: return columns::Codec::kLz4Block;
    default:
      file.refused(fmt::format("it is packed with codec {} ({})", number, number == 4 ? "Brotli" : number == 3 ? "LZO" : "LZ4 of old"));
  }
}

}  // namespace nl::parsers::parquet
