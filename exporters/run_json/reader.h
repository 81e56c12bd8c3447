#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "exporters/run_json/writer.h"
#include "model/error.h"
#include "model/words.h"

// Reads run.json through the same fields() as JsonWriter writes it. null leaves a field as it is by default.
// What was a sentence until format 3 becomes a code through from_sentence() of its struct.
// What is missing or of the wrong kind is an Error with its place as a JSON pointer; a file of an older format may
// lack fields.
namespace nl::exporters {

// The document that is read, and what is said where it is refused.
struct JsonDocument {
  std::string what = "not a whole run.json", where = "run.json";
  std::string fix = "`nl-stage validate FILE` checks all of it; `nl-stage import` makes the bundle anew from its captures";
  bool older = false;  // of an older format: it may lack fields
  bool nulls = true;   // null leaves a field as it is; false: no field may be null
};

class JsonReader {
 public:
  template <class T>
  using Reference = T&;

  JsonReader(const nlohmann::json& document, bool older) : JsonReader(document, run_json(older)) {}
  JsonReader(const nlohmann::json& document, const JsonDocument& about) : here_(&document), about_(&about), older_(about.older) {}

  template <class T>
  void operator()(const char* key, T& value, const char* = "", const Limits& = {}) {
    const auto* found = find(key);
    if (found == nullptr || (found->is_null() && about_->nulls && !std::is_same_v<T, double>)) return;
    JsonReader(*found, *this, key).get(value);
  }
  template <class T>
  void known(const char* key, T& value, const char* = "", const Limits& = {}) {
    (*this)(key, value);
  }
  template <class T>
  void where(bool, const char* key, T& value, const char* = "", const Limits& = {}) {
    if (const auto* found = find(key); found != nullptr && !found->is_null()) (*this)(key, value);
  }
  template <class Enum>
    requires std::is_enum_v<Enum>
  void code(const char* key, Enum& value, const char* = "", std::initializer_list<Enum> = {}) {
    std::optional<Enum> read = value;
    code(key, read);
    if (read) value = *read;
  }
  template <class Enum>
  void code(const char* key, std::optional<Enum>& value, const char* = "", std::initializer_list<Enum> = {}) {
    const auto* found = find(key);
    if (found == nullptr || (found->is_null() && about_->nulls)) return;
    std::string text;
    JsonReader(*found, *this, key).get(text);
    value = from_key<Enum>(text);
    if (!value) JsonReader(*found, *this, key).refuse("an unknown word, '" + text + "'");
  }
  template <class Enum>
  void codes(const char* key, std::vector<Enum>& values, const char* = "") {
    std::vector<std::string> texts;
    (*this)(key, texts);
    for (const std::string& text : texts) {
      const std::optional<Enum> value = from_key<Enum>(text);
      if (!value) JsonReader(*find(key), *this, key).refuse("an unknown word, '" + text + "'");
      values.push_back(*value);
    }
  }
  template <class T>
  void pairs(const char* key, std::vector<std::pair<std::string, T>>& items, const char* first, const char* second, const char* = "") {
    each(key, [&](JsonReader& item) {
      auto& [name, value] = items.emplace_back();
      item(first, name);
      item(second, value);
    });
  }

  template <class T>
  void get(T& value) {
    if constexpr (requires { cells_of(*this, value); }) {
      std::apply([this](auto&... cells) { row(cells...); }, cells_of(*this, value));
    } else {
      if constexpr (requires { from_sentence(*this, value, std::string()); })
        if (older_ && here_->is_string()) return from_sentence(*this, value, here_->get<std::string>());
      expect(here_->is_object(), "an object");
      fields(*this, value);
    }
  }
  void get(bool& value) {
    expect(here_->is_boolean(), "true or false");
    value = here_->get<bool>();
  }
  template <std::integral T>
  void get(T& value) {
    expect(fits<T>(), "a whole number within its bounds");
    value = here_->get<T>();
  }
  void get(double& value) {
    if (here_->is_null()) {  // what the writer makes of it
      value = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    expect(here_->is_number(), "a number");
    value = here_->get<double>();
  }
  void get(std::string& value) {
    expect(here_->is_string(), "a text");
    value = here_->get<std::string>();
  }
  template <class T>
  void get(std::optional<T>& value) {
    if (here_->is_null()) value.reset();  // in a list; fields never come here with one
    else get(value.emplace());
  }
  template <class T>
  void get(std::vector<T>& items) {
    expect(here_->is_array(), "a list");
    items.reserve(here_->size());
    for (std::size_t i = 0; i < here_->size(); ++i) JsonReader((*here_)[i], *this, i).get(items.emplace_back());
  }
  template <class T>
  void get(std::map<std::string, T>& map) {
    expect(here_->is_object(), "an object");
    for (const auto& [key, value] : here_->items()) JsonReader(value, *this, key.c_str()).get(map[key]);
  }

  void get(DamagedRows& damaged);  // capture.cpp

  template <class Read>
  void each(const char* key, Read read) {
    const auto* found = find(key);
    if (found == nullptr) return;
    JsonReader list(*found, *this, key);
    list.expect(found->is_array(), "a list");
    for (std::size_t i = 0; i < found->size(); ++i) {
      JsonReader item((*found)[i], list, i);
      item.expect(item.here_->is_object(), "an object");
      read(item);
    }
  }
  bool has(const char* key) const { return here_->is_object() && here_->contains(key); }
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  JsonReader(const nlohmann::json& here, const JsonReader& parent, const char* key)
      : here_(&here), about_(parent.about_), older_(parent.older_), parent_(&parent), key_(key) {}
  JsonReader(const nlohmann::json& here, const JsonReader& parent, std::size_t index)
      : here_(&here), about_(parent.about_), older_(parent.older_), parent_(&parent), index_(index) {}

  const nlohmann::json* find(const char* key) const;
  void expect(bool holds, const char* what) const {
    if (!holds) refuse(std::string(here_->type_name()) + " where " + what + " belongs");
  }
  template <class T>
  bool fits() const {
    if (here_->is_number_unsigned()) return std::in_range<T>(here_->get<std::uint64_t>());
    return here_->is_number_integer() && std::in_range<T>(here_->get<std::int64_t>());
  }
  template <class... Cells>
  void row(Cells&... cells) {
    expect(here_->is_array() && here_->size() == sizeof...(cells), "a list of the right length");
    std::size_t i = 0;
    ((JsonReader((*here_)[i], *this, i).get(cells), ++i), ...);
  }
  std::string pointer() const;
  static const JsonDocument& run_json(bool older);

  const nlohmann::json* here_;
  const JsonDocument* about_;
  bool older_ = false;
  const JsonReader* parent_ = nullptr;
  const char* key_ = nullptr;
  std::size_t index_ = 0;
};

nlohmann::json parsed_json(std::string_view text, const JsonDocument& about);

// A whole document by the fields() of its struct. Throws Error(kInput).
template <class T>
T read_json(std::string_view text, const JsonDocument& about) {
  const nlohmann::json document = parsed_json(text, about);
  T value;
  JsonReader(document, about).get(value);
  return value;
}

}  // namespace nl::exporters
