#include "exporters/report/markdown.h"

#include <algorithm>

namespace nl::exporters {
namespace {

bool opens_tag(std::string_view text, std::size_t at) {
  if (text[at] != '<' || at + 1 >= text.size()) return false;
  const char next = text[at + 1];
  return (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || next == '/' || next == '!' || next == '?';
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += ' ';
      continue;
    }
    if (c == '|' || opens_tag(text, i)) out += '\\';
    out += c;
  }
  return out;
}

std::string markdown_code(std::string_view text) {
  std::string inside;
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    inside += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  const std::string fence(longest + 1, '`');
  const std::string pad = longest > 0 || inside.empty() ? " " : "";
  return fence + pad + inside + pad + fence;
}

std::string markdown_code_cell(std::string_view text) {
  std::string out;
  for (const char c : markdown_code(text)) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

MarkdownTable::MarkdownTable(std::vector<Column> columns) : width_(columns.size()) {
  std::vector<std::string> titles, rules;
  for (const auto& column : columns) {
    titles.push_back(column.title);
    rules.emplace_back(column.right ? "---:" : "---");
  }
  line(titles);
  line(rules);
}

void MarkdownTable::add(std::vector<std::string> cells) {
  cells.resize(width_);
  line(cells);
  ++rows_;
}

void MarkdownTable::line(const std::vector<std::string>& cells) {
  text_ += '|';
  for (const auto& cell : cells) text_ += ' ' + cell + " |";
  text_ += '\n';
}

}  // namespace nl::exporters
