#include "exporters/fact_tables/flat_table.h"

#include <algorithm>

namespace nl::exporters::fact_tables {
namespace {

using Offset = std::uint32_t;

void refer(std::string& out, std::size_t at, std::size_t target) { replace_number(out, at, static_cast<Offset>(target - at)); }

// Its length, its bytes, and a zero.
std::size_t append_text(std::string& out, const std::string& text) {
  pad_to(out, sizeof(Offset));
  const std::size_t begin = out.size();
  append_number(out, static_cast<Offset>(text.size()));
  out += text;
  out += '\0';
  return begin;
}

std::size_t append_structs(std::string& out, const std::string& bytes, std::size_t count) {
  pad_to(out, 8);
  append_number(out, Offset{0});
  const std::size_t begin = out.size();
  append_number(out, static_cast<Offset>(count));
  out += bytes;
  return begin;
}

}  // namespace

FlatTable& FlatTable::reference(std::size_t field, Append append) {
  fields_.push_back({field, std::string(sizeof(Offset), '\0'), std::move(append)});
  return *this;
}

FlatTable& FlatTable::text(std::size_t field, std::string_view value) {
  return reference(field, [text = std::string(value)](std::string& out) { return append_text(out, text); });
}

FlatTable& FlatTable::part(std::size_t field, FlatTable value) {
  return reference(field, [value = std::move(value)](std::string& out) { return value.append_to(out); });
}

FlatTable& FlatTable::parts(std::size_t field, std::vector<FlatTable> values) {
  return reference(field, [values = std::move(values)](std::string& out) {
    pad_to(out, sizeof(Offset));
    const std::size_t begin = out.size();
    append_number(out, static_cast<Offset>(values.size()));
    const std::size_t first = out.size();
    out.append(values.size() * sizeof(Offset), '\0');
    for (std::size_t i = 0; i < values.size(); ++i) refer(out, first + i * sizeof(Offset), values[i].append_to(out));
    return begin;
  });
}

FlatTable& FlatTable::structs(std::size_t field, std::string bytes, std::size_t count) {
  return reference(field, [bytes = std::move(bytes), count](std::string& out) { return append_structs(out, bytes, count); });
}

// First how large the table is and where its fields stand, then the table, which begins with the distance between the two.
std::size_t FlatTable::append_to(std::string& out) const {
  std::size_t fields = 0;
  for (const Field& field : fields_) fields = std::max(fields, field.number + 1);
  std::string body(sizeof(std::int32_t), '\0');
  std::vector<std::uint16_t> places(fields, 0);
  std::vector<std::size_t> starts;
  for (const Field& field : fields_) {
    pad_to(body, field.bytes.size());
    starts.push_back(body.size());
    places[field.number] = static_cast<std::uint16_t>(body.size());
    body += field.bytes;
  }
  const std::size_t head = (2 + fields) * sizeof(std::uint16_t);
  while ((out.size() + head) % 8 != 0) out += '\0';
  append_number(out, static_cast<std::uint16_t>(head));
  append_number(out, static_cast<std::uint16_t>(body.size()));
  append_numbers(out, places);
  const std::size_t begin = out.size();
  replace_number(body, 0, static_cast<std::int32_t>(head));
  out += body;
  for (std::size_t i = 0; i < fields_.size(); ++i)
    if (fields_[i].append) refer(out, begin + starts[i], fields_[i].append(out));
  return begin;
}

std::string FlatTable::buffer() const {
  std::string out(sizeof(Offset), '\0');
  refer(out, 0, append_to(out));
  pad_to(out, 8);
  return out;
}

}  // namespace nl::exporters::fact_tables
