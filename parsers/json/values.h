#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/time.h"
#include "parsers/json/array_file.h"

// What the readers of events ask of simdjson: a value of another kind than expected counts as missing, not as an error.
namespace nl::parsers {

// A JSON number as it stands in the text, in µs, as nanoseconds: to the digit, where a double has lost the
// last ones (3844436102910.259 µs has 16 of them). Beyond that it is rounded, halves away from zero.
std::optional<Ns> micros_to_ns(std::string_view number);
// A whole number, quoted or not: ONNX Runtime quotes the ones in "args".
std::optional<std::int64_t> whole_number(std::string_view token);

static_assert(JsonArrayFile::kPadding >= simdjson::SIMDJSON_PADDING);

inline std::string_view json_text(simdjson::ondemand::value& value) {
  std::string_view text;
  if (value.get_string().get(text)) return {};
  return text;
}

inline std::optional<std::int64_t> json_whole(simdjson::ondemand::value& value) { return whole_number(value.raw_json_token()); }

// visit(key, value) for each member; false as soon as it returns that, or the text turns out not to be JSON.
template <typename Visit>
bool for_each_member(simdjson::ondemand::object& object, Visit visit) {
  for (auto field : object) {
    std::string_view key;
    simdjson::ondemand::value value;
    if (field.unescaped_key().get(key) || field.value().get(value)) return false;
    if (!visit(key, value)) return false;
  }
  return true;
}

// The same for a value that should be an object. null, or a list, has no members to visit, and is not a fault.
template <typename Visit>
bool for_each_member(simdjson::ondemand::value& value, Visit visit) {
  simdjson::ondemand::object object;
  return value.get_object().get(object) ? true : for_each_member(object, visit);
}

// What events of Chrome's trace format have in common; false where the key is not one of them.
template <typename Event>
bool read_event_member(std::string_view key, simdjson::ondemand::value& value, Event& out) {
  if (key == "cat") out.category = json_text(value);
  else if (key == "name") out.name = json_text(value);
  else if (key == "pid") out.pid = json_whole(value);
  else if (key == "tid") out.tid = json_whole(value);
  else if (key == "ts") out.start_ns = micros_to_ns(value.raw_json_token());
  else if (key == "dur") out.duration_ns = micros_to_ns(value.raw_json_token());
  else return false;
  return true;
}

// The same as for_each_member() for the object that the file stands at.
template <typename Visit>
bool for_each_member(simdjson::ondemand::parser& parser, const JsonArrayFile& file, Visit visit) {
  const std::string_view text = file.element();
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  if (parser.iterate(text.data(), text.size(), file.element_capacity()).get(document)) return false;
  if (document.get_object().get(object)) return false;
  return for_each_member(object, visit);
}

}  // namespace nl::parsers
