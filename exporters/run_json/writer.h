#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/words.h"

// Writes run.json, indented by two. What a struct holds is said once, in a function that serves the writer,
// the reader (reader.h) and the schema (schema_writer.h) alike:
//
//   void fields(auto& io, Ref<decltype(io), ApiEntry> a) {
//     io("name", a.name, "CUDA function");
//     time_fields(io, "calls", a.time);
//   }
//
// A small struct of numbers is one line, [8, 12, 1]: cells_of() ties its members.
namespace nl::exporters {

// What a field of run.json may hold besides what its type says. Only the schema looks at it.
struct Limits {
  std::optional<int> minimum = 0;  // of numbers; of a list or a map, of the numbers in it
  std::optional<int> maximum = {};
  const char* pattern = nullptr;  // of texts; null: any
  std::size_t most_items = 0;     // of a list; 0: any number
};

inline constexpr Limits kFromZero{};
inline constexpr Limits kFromOne{.minimum = 1};
inline constexpr Limits kAnySign{.minimum = std::nullopt};
inline constexpr Limits kFraction{.maximum = 1};

constexpr Limits matching(const char* pattern) { return {.pattern = pattern}; }

// What fields() gets of a T, by what it is given to: `Ref<decltype(io), T>`. The reader may change it.
template <class Io, class T>
using Ref = typename std::remove_reference_t<Io>::template Reference<T>;

class JsonWriter {
 public:
  template <class T>
  using Reference = const T&;

  template <class T>
  void operator()(const char* key, const T& value, const char* = "", const Limits& = {}) {
    name(key);
    put(value);
  }
  // "Not captured" is null: an empty text, or a number that cannot be zero.
  void known(const char* key, const std::string& text, const char* = "", const Limits& = {}) {
    text.empty() ? null(key) : (*this)(key, text);
  }
  template <std::integral T>
  void known(const char* key, const T& number, const char* = "", const Limits& = {}) {
    number == 0 ? null(key) : (*this)(key, number);
  }
  // Without meaning where `there` is false.
  template <class T>
  void where(bool there, const char* key, const T& value, const char* = "", const Limits& = {}) {
    there ? (*this)(key, value) : null(key);
  }
  // An enumeration of model/codes by its key; kNone, and an optional without a value, are null.
  template <class Enum>
    requires std::is_enum_v<Enum>
  void code(const char* key, Enum value, const char* = "", std::initializer_list<Enum> = {}) {
    if constexpr (requires { Enum::kNone; })
      if (value == Enum::kNone) return null(key);
    (*this)(key, key_of(value));
  }
  template <class Enum>
  void code(const char* key, const std::optional<Enum>& value, const char* = "", std::initializer_list<Enum> = {}) {
    value ? code(key, *value) : null(key);
  }
  template <class Enum>
  void codes(const char* key, const std::vector<Enum>& values, const char* = "") {
    name(key);
    list(values, [this](Enum value) { put(key_of(value)); });
  }
  // Made out of other fields, for those who read the file without this program.
  template <class T>
  void made(const char* key, const T& value, const char*) {
    (*this)(key, value);
  }
  template <class T>
  void pairs(const char* key, const std::vector<std::pair<std::string, T>>& items, const char* first, const char* second,
             const char* = "") {
    name(key);
    list(items, [&](const auto& item) {
      open('{');
      (*this)(first, item.first);
      (*this)(second, item.second);
      close('}');
    });
  }

  template <class T>
  void put(const T& value) {
    if constexpr (requires { cells_of(*this, value); }) {
      std::apply([this](const auto&... cells) { row(cells...); }, cells_of(*this, value));
    } else {
      open('{');
      fields(*this, value);
      close('}');
    }
  }
  void put(const bool& value) { out_ += value ? "true" : "false"; }
  template <std::integral T>
  void put(const T& value) {
    out_ += std::to_string(value);
  }
  void put(double value);  // null where it is not finite
  void put(std::string_view text);
  void put(const std::string& text) { put(std::string_view(text)); }
  template <class T>
  void put(const std::optional<T>& value) {
    if (value) put(*value);
    else out_ += "null";
  }
  template <class T>
  void put(const std::vector<T>& items) {
    list(items, [this](const T& item) { put(item); });
  }
  void put(const std::vector<double>& numbers);  // on one line
  void put(const std::vector<std::optional<double>>& numbers);
  template <class T>
  void put(const std::map<std::string, T>& map) {
    open('{');
    for (const auto& [key, value] : map) {
      if constexpr (std::is_same_v<T, double>)
        if (!std::isfinite(value)) continue;  // not captured: a map has no entry for it
      name(key);
      put(value);
    }
    close('}');
  }

  void put(const DamagedRows& damaged);  // capture.cpp

  std::string take() && { return std::move(out_); }

 private:
  void name(std::string_view key);
  void null(const char* key) {
    name(key);
    out_ += "null";
  }
  void next();  // a new line for the next item of the object or list
  void open(char bracket);
  void close(char bracket);
  template <class Items, class Put>
  void list(const Items& items, Put put_item) {
    open('[');
    for (const auto& item : items) {
      next();
      put_item(item);
    }
    close(']');
  }
  template <class Numbers>
  void line(const Numbers& numbers);
  template <class First, class... Rest>
  void row(const First& first, const Rest&... rest) {
    out_ += '[';
    put(first);
    ((out_ += ", ", put(rest)), ...);
    out_ += ']';
  }

  std::string out_;
  int depth_ = 0;
  bool empty_ = true;  // nothing in the innermost object or list yet
};

// A whole document by the fields() of its struct, with a line end.
template <class T>
std::string json_text(const T& value) {
  JsonWriter writer;
  writer.put(value);
  return std::move(writer).take() + "\n";
}

}  // namespace nl::exporters
