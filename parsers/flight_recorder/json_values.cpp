#include "parsers/flight_recorder/json_values.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "model/error_code.h"
#include "model/input_bounds.h"

namespace nl::parsers {
namespace {

using Json = nlohmann::json;

// What the parser calls for each value, in their order.
class Builder {
 public:
  explicit Builder(const std::string& where) : where_(where), document_{Values(where)} {}

  bool null() { return put(Values::kNone); }
  bool boolean(bool value) { return put(value ? Values::kTrue : Values::kFalse); }
  bool number_integer(std::int64_t value) { return add({.kind = ValueKind::kInt, .integer = value}); }
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return number_float(static_cast<double>(value), {});
    return number_integer(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string&) { return add({.kind = ValueKind::kFloat, .real = value}); }
  bool string(std::string& text) { return add({.kind = ValueKind::kText, .text = document_.values.keep(std::move(text))}); }
  bool binary(Json::binary_t&) { return false; }  // not in JSON
  bool key(std::string& text) { return string(text); }
  bool start_object(std::size_t) { return open(ValueKind::kDict); }
  bool start_array(std::size_t) { return open(ValueKind::kList); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool parse_error(std::size_t at, const std::string&, const Json::exception& fault) {
    throw CodedError(ErrorCode::kCaptureDamaged, "the JSON is damaged: " + json_fault(fault.what()), fmt::format("{}, byte {}", where_, at),
                     "its process was killed while it wrote, or the copy is not whole; use a whole one, or leave it out");
  }

  JsonDocument take() { return std::move(document_); }

 private:
  bool put(ValueId id) {
    if (open_.empty()) document_.root = id;
    else document_.values.parts(open_.back()).push_back(id);
    return true;
  }
  bool add(const Value& value) { return put(document_.values.add(value)); }
  bool open(ValueKind kind) {
    const ValueId id = document_.values.add_container(kind);
    put(id);
    open_.push_back(id);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& where_;
  JsonDocument document_;
  std::vector<ValueId> open_;
};

}  // namespace

JsonDocument read_json_values(std::string_view text, const std::string& where) {
  Builder builder(where);
  Json::sax_parse(json_within_bounds(text, where), &builder);
  return builder.take();
}

}  // namespace nl::parsers
