#include "parsers/arrow/table.h"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "parsers/arrow/stored_values.h"

namespace nl::parsers::arrow {
namespace {

// One after another, as a column has them.
struct DictionaryValues {
  columns::Kind kind = columns::Kind::kAbsent;
  std::vector<columns::Column> parts;
  std::vector<std::uint64_t> ends;  // of the parts
};

// Values, or numbers of a dictionary's.
class ColumnReader {
 public:
  ColumnReader(const columns::MappedFile& file, const Messages& messages, std::size_t column, const Batch& batch)
      : file_(file), field_(messages.fields[column]), values_(values_of(messages.fields, column, batch)) {
    if (values_.rows() < batch.rows)
      file.damaged(fmt::format("column '{}' of the batch at byte {} has {} rows of {}", field_.name, batch.at, values_.rows(), batch.rows));
    if (field_.dictionary) read_dictionary(messages);
  }

  void read(std::uint64_t at, std::size_t rows, columns::Column& into) {
    if (!field_.dictionary) return values_.read(at, rows, into);
    values_.read(at, rows, numbers_);
    into.begin(dictionary_.kind, rows);
    for (std::size_t i = 0; i < rows; ++i) look_up(i, into);
    for (const columns::Column& part : dictionary_.parts)
      for (const columns::Memory& memory : part.memory) into.keep(memory);
  }

 private:
  StoredValues values_of(const std::vector<Field>& fields, std::size_t column, const Batch& batch) const {
    std::size_t node = 0, buffer = 0;
    for (std::size_t i = 0; i < column; ++i) {
      node += fields[i].nodes;
      buffer += fields[i].buffers;
    }
    return {file_, field_, field_.dictionary ? field_.index : field_.layout, batch, node, buffer};
  }

  void read_dictionary(const Messages& messages) {
    const auto found = messages.dictionaries.find(*field_.dictionary);
    if (found == messages.dictionaries.end()) return;  // of a column of NULLs
    std::uint64_t end = 0;
    for (const Batch& batch : found->second) {
      const StoredValues values(file_, field_, field_.layout, batch, 0, 0);
      if (values.rows() > file_.bytes().size()) file_.damaged(fmt::format("the dictionary at byte {} is larger than the file", batch.at));
      values.read(0, static_cast<std::size_t>(values.rows()), dictionary_.parts.emplace_back());
      dictionary_.ends.push_back(end += values.rows());
      dictionary_.kind = dictionary_.parts.front().kind;
    }
  }

  void look_up(std::size_t row, columns::Column& into) const {
    into.known[row] = 0;
    if (numbers_.known[row] == 0) return;
    const auto number = static_cast<std::uint64_t>(numbers_.integers[row]);
    const auto part = std::upper_bound(dictionary_.ends.begin(), dictionary_.ends.end(), number) - dictionary_.ends.begin();
    if (static_cast<std::size_t>(part) == dictionary_.parts.size())
      file_.damaged(fmt::format("column '{}' has value {} of a dictionary of {}", field_.name, number,
                                dictionary_.ends.empty() ? 0 : dictionary_.ends.back()));
    const columns::Column& values = dictionary_.parts[static_cast<std::size_t>(part)];
    const auto at = static_cast<std::size_t>(number - (part > 0 ? dictionary_.ends[static_cast<std::size_t>(part) - 1] : 0));
    into.known[row] = values.known[at];
    if (!into.integers.empty() && !values.integers.empty()) into.integers[row] = values.integers[at];
    if (!into.reals.empty()) into.reals[row] = values.reals[at];
    if (!into.texts.empty()) into.texts[row] = values.texts[at];
  }

  const columns::MappedFile& file_;
  const Field& field_;
  StoredValues values_;
  DictionaryValues dictionary_;
  columns::Column numbers_;
};

class ArrowGroup : public columns::GroupReader {
 public:
  explicit ArrowGroup(std::vector<std::optional<ColumnReader>> readers) : readers_(std::move(readers)) {}

  void read(std::size_t rows, std::vector<columns::Column>& columns) override {
    for (std::size_t i = 0; i < readers_.size(); ++i)
      if (readers_[i]) readers_[i]->read(at_, rows, columns[i]);
      else columns[i].begin(columns::Kind::kAbsent, rows);
    at_ += rows;
  }

 private:
  std::vector<std::optional<ColumnReader>> readers_;
  std::uint64_t at_ = 0;
};

class ArrowTable : public columns::TableFile {
 public:
  explicit ArrowTable(const std::filesystem::path& file) : file_(file, "Arrow file"), messages_(read_messages(file_)) {
    for (const Field& field : messages_.fields) add_column(field.name);
    for (const Batch& batch : messages_.batches) add_group(file_, batch.rows, fmt::format("the batch at byte {}", batch.at));
  }

  std::unique_ptr<columns::GroupReader> group(std::size_t number, const std::vector<std::string_view>& names) const override {
    std::vector<std::optional<ColumnReader>> readers(names.size());
    for (std::size_t i = 0; i < names.size(); ++i)
      if (const std::size_t column = column_number(names[i]); column < messages_.fields.size())
        readers[i].emplace(file_, messages_, column, messages_.batches[number]);
    return std::make_unique<ArrowGroup>(std::move(readers));
  }

 private:
  columns::MappedFile file_;
  Messages messages_;
};

}  // namespace

columns::Table open_table(const std::filesystem::path& file) { return std::make_shared<const ArrowTable>(file); }

}  // namespace nl::parsers::arrow
