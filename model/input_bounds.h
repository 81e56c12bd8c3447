#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "model/error.h"

// How deeply a text of JSON or YAML may nest, and how many values it may hold. A few bytes can ask a parser for all memory of the
// machine, so a text is looked at before a parser sees it. Every limit stands here; tests/layering/check_bounds.py finds a parser that is
// called without.
namespace nl {

struct InputBounds {
  std::size_t depth = 0;   // of lists and maps
  std::size_t values = 0;  // as written
};

// A run.json nests 12 deep. A value takes about a hundred bytes of memory.
inline constexpr InputBounds kJsonBounds{128, 20'000'000};
inline constexpr InputBounds kYamlBounds{64, 2'000'000};
inline constexpr std::size_t kMostAliasedValues = 100'000;  // that the aliases of a YAML file stand for

// Arrays of a .npz: deflate packs a thousand to one at most.
inline constexpr std::size_t kMostInflation = 1100;

[[noreturn]] inline void refuse_out_of_bounds(ErrorKind kind, std::string what, std::string where) {
  throw Error(kind, std::move(what), std::move(where),
              "no file of this kind is like that: it is damaged, or was made to fill the memory; "
              "use a copy from where it was made");
}

// Returns the text. Error(kInput) names the byte where it leaves the bounds. It does not check that the text is JSON.
inline std::string_view json_within_bounds(std::string_view text, const std::string& where, const InputBounds& bounds = kJsonBounds) {
  std::size_t depth = 0, values = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
    } else if (c == '[' || c == '{') {
      ++values;
      if (++depth > bounds.depth)
        refuse_out_of_bounds(ErrorKind::kInput, "the JSON is nested more than " + std::to_string(bounds.depth) + " deep",
                             where + ", byte " + std::to_string(at + 1));
    } else if (c == ']' || c == '}') {
      depth -= std::min<std::size_t>(depth, 1);
    } else if (c == ',' && ++values > bounds.values) {
      refuse_out_of_bounds(ErrorKind::kInput, "the JSON holds more than " + std::to_string(bounds.values) + " values",
                           where + ", byte " + std::to_string(at + 1));
    }
  }
  return text;
}

// What the parser of JSON found wrong, without its own number for that: "[json.exception.parse_error.101] parse error at line 1 …".
inline std::string json_fault(std::string_view what) {
  constexpr std::string_view kNumber = "[json.exception.", kEnd = "] ";
  const std::size_t end = what.find(kEnd);
  return std::string(what.starts_with(kNumber) && end != std::string_view::npos ? what.substr(end + kEnd.size()) : what);
}

}  // namespace nl
