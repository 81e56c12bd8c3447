#include "servers/http/target.h"

#include <fmt/format.h>

#include <algorithm>

namespace nl::servers::http {
namespace {

enum class Plus { kPlus, kBlank };

int hexadecimal(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decoded(std::string_view text, Plus plus) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus == Plus::kBlank) c = ' ';
    if (c == '%') {
      const int high = i + 2 < text.size() ? hexadecimal(text[i + 1]) : -1, low = i + 2 < text.size() ? hexadecimal(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    out += c;
  }
  return out;
}

// Notes have lines, and NUL is nothing in any text of ours.
bool has_control(std::string_view text, std::string_view allowed) {
  return std::any_of(text.begin(), text.end(), [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < ' ' || byte == 127) && allowed.find(c) == std::string_view::npos;
  });
}

bool is_part(const std::string& part) {
  return !part.empty() && part != "." && part != ".." && part.find('/') == std::string::npos && !has_control(part, "");
}

}  // namespace

std::optional<Fields> parse_fields(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = decoded(pair.substr(0, equals), Plus::kBlank);
    auto value = decoded(pair.substr(std::min(pair.size(), equals + 1)), Plus::kBlank);
    if (!name || !value || has_control(*name, "") || has_control(*value, "\t\r\n")) return std::nullopt;
    fields.add(std::move(*name), std::move(*value));
  }
  return fields;
}

std::optional<Target> parse_target(std::string_view text) {
  if (!text.starts_with('/')) return std::nullopt;
  const std::size_t question = std::min(text.find('?'), text.size());
  std::string_view path = text.substr(1, question - 1);
  Target target;
  while (!path.empty()) {
    const std::string_view raw = path.substr(0, path.find('/'));
    const bool ends_with_slash = raw.size() + 1 == path.size();
    path.remove_prefix(std::min(path.size(), raw.size() + 1));
    auto part = decoded(raw, Plus::kPlus);
    if (!part || !is_part(*part) || ends_with_slash) return std::nullopt;
    target.path.push_back(std::move(*part));
  }
  auto query = parse_fields(text.substr(std::min(text.size(), question + 1)));
  if (!query) return std::nullopt;
  target.query = std::move(*query);
  return target;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string query_text(const Fields& fields) {
  std::string out;
  for (const auto& [name, value] : fields.pairs()) out += fmt::format("{}{}={}", out.empty() ? "?" : "&", escaped(name), escaped(value));
  return out;
}

}  // namespace nl::servers::http
