#include "exporters/fact_tables/batch.h"

#include <cmath>

#include "exporters/report/html/html.h"
#include "model/error.h"

namespace nl::exporters::fact_tables {
namespace {

constexpr std::size_t kBytesOfAValue = 8;
constexpr std::size_t kMostTextBytes = 1 << 30;  // lengths are 31 bits in both formats

const std::string& checked(const Table& table, const Row& row, const std::string& text) {
  if (text.size() > kMostTextBytes)
    throw Error(ErrorKind::kInput, "a text has more than 1 GiB", table.name + " of " + row.run.run_id, "leave the run out");
  return text;
}

}  // namespace

Batch::Batch(const Table& table) : table_(table) {
  for (const Column& column : table.columns) columns_.push_back({column.type});
}

void Batch::add(Values& column, const Value& value) {
  const auto* real = std::get_if<double>(&value);
  const bool known = !std::holds_alternative<std::monostate>(value) && (real == nullptr || std::isfinite(*real));
  column.known.push_back(known);
  column.nulls += known ? 0 : 1;
  switch (column.type) {
    case Type::kTime:
    case Type::kInteger: column.integers.push_back(known ? std::get<std::int64_t>(value) : 0); break;
    case Type::kReal: column.reals.push_back(known ? *real : 0); break;
    case Type::kBoolean: column.booleans.push_back(known && std::get<bool>(value)); break;
    case Type::kText:
      if (known) column.texts += html::utf8(std::get<std::string>(value));
      column.ends.push_back(static_cast<std::uint32_t>(column.texts.size()));
  }
}

void Batch::add(const Row& row) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Value value = table_.columns[i].read(row);
    if (const auto* known = std::get_if<std::string>(&value)) bytes_ += checked(table_, row, *known).size();
    add(columns_[i], value);
  }
  bytes_ += kBytesOfAValue * columns_.size();
  ++rows_;
}

void Batch::clear() {
  for (Values& column : columns_) column = {column.type};
  rows_ = bytes_ = 0;
}

}  // namespace nl::exporters::fact_tables
