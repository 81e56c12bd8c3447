#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/fact_tables/bytes.h"

namespace nl::exporters::fact_tables {

// A table in a FlatBuffer, as far as Arrow needs it. What a field refers to lies behind its table.
class FlatTable {
 public:
  template <class Number>
  FlatTable& number(std::size_t field, Number value) {
    std::string bytes;
    append_number(bytes, value);
    fields_.push_back({field, std::move(bytes), {}});
    return *this;
  }
  FlatTable& text(std::size_t field, std::string_view value);
  FlatTable& part(std::size_t field, FlatTable value);
  FlatTable& parts(std::size_t field, std::vector<FlatTable> values);
  FlatTable& structs(std::size_t field, std::string bytes, std::size_t count);  // they begin at a multiple of eight

  std::string buffer() const;  // with this table as its root

 private:
  using Append = std::function<std::size_t(std::string&)>;  // returns where it begins
  struct Field {
    std::size_t number;
    std::string bytes;  // of the value, or of the offset to it
    Append append;      // empty: the value stands in the table
  };
  FlatTable& reference(std::size_t field, Append append);
  std::size_t append_to(std::string& out) const;

  std::vector<Field> fields_;
};

}  // namespace nl::exporters::fact_tables
