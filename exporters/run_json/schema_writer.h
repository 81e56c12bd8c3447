#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "exporters/run_json/writer.h"
#include "model/words.h"

// Makes run.json's JSON Schema (draft 7) of the same fields() that JsonWriter and JsonReader go through. Nothing but the
// types of the values is looked at. Every property is required, and no other is allowed.
namespace nl::exporters {

class SchemaWriter {
 public:
  using Json = nlohmann::ordered_json;
  template <class T>
  using Reference = const T&;

  template <class T>
  void operator()(const char* key, const T&, const char* about, const Limits& limits = {}) {
    add(key, about, of<T>(limits));
  }
  template <class T>
  void known(const char* key, const T&, const char* about, Limits limits = {}) {
    if constexpr (std::integral<T>) limits.minimum = 1;
    add(key, about, nullable(of<T>(limits)));
  }
  template <class T>
  void where(bool, const char* key, const T&, const char* about, const Limits& limits = {}) {
    add(key, about, nullable(of<T>(limits)));
  }
  template <class T>
  void made(const char* key, const T&, const char* about) {
    add(key, about, of<T>(kFromZero));
  }
  // `only`: those that this field may have; without, all.
  template <class Enum>
    requires std::is_enum_v<Enum>
  void code(const char* key, Enum, const char* about, std::initializer_list<Enum> only = {}) {
    Json schema = {{"enum", words(only)}};
    if constexpr (requires { Enum::kNone; }) schema = nullable(std::move(schema));
    add(key, about, std::move(schema));
  }
  template <class Enum>
  void code(const char* key, const std::optional<Enum>&, const char* about, std::initializer_list<Enum> only = {}) {
    add(key, about, nullable({{"enum", words(only)}}));
  }
  template <class Enum>
  void codes(const char* key, const std::vector<Enum>&, const char* about) {
    add(key, about, {{"type", "array"}, {"items", {{"enum", words<Enum>({})}}}});
  }
  template <class T>
  void pairs(const char* key, const std::vector<std::pair<std::string, T>>&, const char* first, const char* second, const char* about) {
    SchemaWriter item;
    item(first, std::string(), "");
    item(second, T(), "");
    add(key, about, {{"type", "array"}, {"items", object(std::move(item.properties_))}});
  }

  // Of a whole file, a field a line where it fits: the shapes that stand in it more than once are definitions.
  std::string text(const char* title, const char* about) &&;

 private:
  template <class T>
  Json of(const Limits& limits) {
    if constexpr (std::is_same_v<T, bool>) return {{"type", "boolean"}};
    else if constexpr (std::integral<T>) return number("integer", limits);
    else if constexpr (std::is_same_v<T, double>) return limits.maximum ? number("number", limits) : nullable(number("number", limits));
    else if constexpr (std::is_same_v<T, std::string>) return text(limits);
    else if constexpr (requires(T value) { value.has_value(); }) return nullable(of<typename T::value_type>(limits));
    else if constexpr (requires(T value) { value.emplace_back(); }) return list(of<typename T::value_type>(limits), limits);
    else if constexpr (std::is_same_v<T, DamagedRows>) return list(shape<DamagedRow>(), limits);
    else if constexpr (requires { typename T::mapped_type; }) return map(of<typename T::mapped_type>(limits));
    else return shape<T>();
  }
  template <class T>
  Json shape() {
    T value{};
    if constexpr (requires(SchemaWriter& io) { cells_of(io, value); }) {
      return row(cells_of(*this, value));
    } else {
      Json outer = std::exchange(properties_, Json::object());
      fields(*this, std::as_const(value));
      Json inner = object(std::exchange(properties_, std::move(outer)));
      return reference(typeid(T).name(), std::move(inner));
    }
  }
  template <class... Cells>
  static Json row(const std::tuple<Cells&...>&) {
    const bool any_sign = (std::is_signed_v<Cells> || ...);
    Json items = number("integer", any_sign ? kAnySign : kFromZero);
    return {{"type", "array"}, {"items", items}, {"minItems", sizeof...(Cells)}, {"maxItems", sizeof...(Cells)}};
  }

  template <class Enum>
  static Json words(std::initializer_list<Enum> only) {
    Json list = Json::array();
    for (const Enum value : only) list.push_back(key_of(value));
    constexpr std::size_t first = requires { Enum::kNone; } ? 1 : 0;  // null stands for it
    if (only.size() == 0)
      for (const std::string_view key : keys_of<Enum>().subspan(first)) list.push_back(key);
    return list;
  }
  static Json number(const char* type, const Limits& limits);
  static Json text(const Limits& limits);
  static Json list(Json item, const Limits& limits);
  static Json map(Json value);
  static Json nullable(Json schema);
  static Json object(Json properties);
  Json reference(const char* mangled_name, Json shape);  // to be resolved at the end
  void add(const char* key, const char* about, Json schema);

  Json properties_ = Json::object();
  std::map<std::string, Json> shapes_;  // by the name of the struct
};

template <class T>
std::string schema_text(const char* title, const char* about) {
  SchemaWriter root;
  fields(root, T());
  return std::move(root).text(title, about);
}

}  // namespace nl::exporters
