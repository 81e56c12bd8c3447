#include "parsers/parquet/table.h"

#include <optional>

#include <fmt/core.h>

#include "parsers/parquet/chunk_reader.h"

namespace nl::parsers::parquet {
namespace {

class ParquetGroup : public columns::GroupReader {
 public:
  explicit ParquetGroup(std::vector<std::optional<ChunkReader>> chunks) : chunks_(std::move(chunks)) {}

  void read(std::size_t rows, std::vector<columns::Column>& columns) override {
    for (std::size_t i = 0; i < chunks_.size(); ++i)
      if (chunks_[i]) chunks_[i]->read(rows, columns[i]);
      else columns[i].begin(columns::Kind::kAbsent, rows);
  }

 private:
  std::vector<std::optional<ChunkReader>> chunks_;
};

class ParquetTable : public columns::TableFile {
 public:
  explicit ParquetTable(const std::filesystem::path& file) : file_(file, "Parquet file"), metadata_(read_metadata(file_)) {
    for (const ColumnSchema& column : metadata_.columns) add_column(column.name);
    for (const RowGroup& group : metadata_.groups) add_group(file_, group.rows, fmt::format("row group {}", group_rows().size()));
  }

  std::unique_ptr<columns::GroupReader> group(std::size_t number, const std::vector<std::string_view>& names) const override {
    std::vector<std::optional<ChunkReader>> chunks(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::size_t column = column_number(names[i]);
      if (column < metadata_.columns.size())
        chunks[i].emplace(file_, metadata_.columns[column], metadata_.groups[number].chunks[column], number);
    }
    return std::make_unique<ParquetGroup>(std::move(chunks));
  }

 private:
  columns::MappedFile file_;
  Metadata metadata_;
};

}  // namespace

columns::Table open_table(const std::filesystem::path& file) { return std::make_shared<const ParquetTable>(file); }

}  // namespace nl::parsers::parquet
