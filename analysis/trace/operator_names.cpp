#include "analysis/trace/operator_names.h"

#include <array>

namespace nl::analysis {
namespace {

constexpr std::array<std::string_view, 5> kKeys = {"stashed seq", "seq", "op_id", "input_op_ids", "sizes"};

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

struct Attribute {
  std::string_view key, value;
};

// Of text that begins behind a comma: "op_id = 276, …". The value runs to the end of the text.
Attribute attribute_at(std::string_view text) {
  text = without_blanks(text);
  for (const std::string_view key : kKeys) {
    if (text.substr(0, key.size()) != key) continue;
    const std::string_view rest = without_blanks(text.substr(key.size()));
    if (!rest.empty() && rest.front() == '=') return {key, without_blanks(rest.substr(1))};
  }
  return {};
}

// "[[1, 2], [3]], input_op_ids = …" → "[[1, 2], [3]]"
std::string_view bracketed(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && --depth == 0) return text.substr(0, i + 1);
    if (depth == 0) return {};
  }
  return {};
}

}  // namespace

OperatorName split_operator_name(std::string_view range_name) {
  OperatorName out{without_blanks(range_name), {}, false};
  for (std::size_t comma = range_name.find(','); comma != std::string_view::npos; comma = range_name.find(',', comma + 1)) {
    const Attribute attribute = attribute_at(range_name.substr(comma + 1));
    if (attribute.key.empty()) continue;
    if (!out.numbered) out.name = without_blanks(range_name.substr(0, comma));
    out.numbered = true;
    if (attribute.key != "sizes") continue;
    out.shape = bracketed(attribute.value);
    if (out.shape == "[]") out.shape = {};
    break;
  }
  return out;
}

LayerName split_layer_name(std::string_view range_name) {
  const std::size_t bar = range_name.find('|');
  if (bar == std::string_view::npos) return {range_name, {}};
  return {range_name.substr(0, bar), range_name.substr(bar + 1)};
}

}  // namespace nl::analysis
