#include "exporters/report/text/markdown.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/run_text.h"
#include "model/visible_text.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

using namespace report;

constexpr std::size_t kLongName = 90;

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
  return out;
}

bool opens_tag(std::string_view text, std::size_t at) {
  if (text[at] != '<' || at + 1 >= text.size()) return false;
  const char next = text[at + 1];
  return (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || next == '/' || next == '!' || next == '?';
}

// "](" and "][" make a link of what stands before them, "]:" defines one where the text begins with "["; "://" and "www." are links
// where GitHub shows them.
bool opens_link(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  const bool behind_bracket = at > 0 && text[at - 1] == ']' && (rest[0] == '(' || rest[0] == '[' || (rest[0] == ':' && text[0] == '['));
  const bool address = rest.starts_with("//") && at > 0 && text[at - 1] == ':';
  const bool host = rest[0] == '.' && at >= 3 && lower_case(text.substr(at - 3, 3)) == "www";
  return behind_bracket || address || host;
}

bool needs_escape(std::string_view text, std::size_t at) { return text[at] == '|' || opens_tag(text, at) || opens_link(text, at); }

char printable(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c; }

// A name may turn the direction of its line, and may be no UTF-8; control characters become blanks later.
std::string readable(std::string_view text) {
  const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (ascii) return std::string(text);
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), printable);
  return visible_line(out);
}

std::string table_line(const std::vector<std::string>& cells) {
  std::string out = "|";
  for (const auto& cell : cells) out += ' ' + cell + " |";
  return out + '\n';
}

// Each block as lines, the last one ended; empty: left out.
class MarkdownWriter {
 public:
  std::string operator()(const Paragraph& paragraph) {
    return paragraph.role == Role::kCaption || paragraph.text.empty() ? "" : inlined(paragraph.text) + '\n';
  }
  std::string operator()(const Heading& heading) { return "### " + markdown_text(heading.title) + '\n'; }
  std::string operator()(const List& list);
  std::string operator()(const Table& table);
  std::string operator()(const Legend& legend);
  std::string operator()(const Tiles&) { return {}; }
  std::string operator()(const Notice& notice);
  std::string operator()(const Card& card);
  std::string operator()(const Figure&) { return {}; }
  std::string operator()(const Fold& fold) { return markdown_text(fold.title) + ":\n\n" + joined(fold.blocks); }

  std::string joined(const Blocks& blocks);
  std::string names_in_full() const;

 private:
  std::string inlined(const Text& text, bool in_table = false);
  std::string span(const Span& span, bool in_table);
  std::string numbered_name(const std::string& name);
  std::vector<std::string> cells(const Table& table, const Row& row, bool strong);

  std::vector<std::string> names_;
};

std::string MarkdownWriter::inlined(const Text& text, bool in_table) {
  std::string out;
  for (const auto& each : text.spans) out += span(each, in_table);
  return out;
}

std::string MarkdownWriter::span(const Span& span, bool in_table) {
  switch (span.style) {
    case Inline::kStrong: return "**" + markdown_text(span.text) + "**";
    case Inline::kName: return numbered_name(span.text);
    case Inline::kShortName: return markdown_text(short_kernel_name(span.text));
    case Inline::kPlain:
    case Inline::kMuted: return markdown_text(span.text);
    case Inline::kCode: break;
  }
  if (!in_table) return markdown_code(span.text);
  std::string out;  // a table splits even code at a pipe
  for (const char c : markdown_code(span.text)) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string MarkdownWriter::numbered_name(const std::string& name) {
  if (name.empty()) return "(no name)";
  const std::string brief = short_kernel_name(name);
  if (name.size() <= kLongName || brief == name) return markdown_text(name);
  auto known = std::find(names_.begin(), names_.end(), name);
  if (known == names_.end()) known = names_.insert(names_.end(), name);
  return fmt::format("{} [{}]", markdown_text(brief), known - names_.begin() + 1);
}

std::string MarkdownWriter::names_in_full() const {
  std::string out;
  for (std::size_t i = 0; i < names_.size(); ++i) out += fmt::format("{}. {}\n", i + 1, markdown_text(names_[i]));
  return out;
}

std::string MarkdownWriter::operator()(const List& list) {
  static constexpr const char* kMarks[] = {"", "", "against it: ", "not captured: "};
  std::string out;
  std::size_t number = 0;
  for (const auto& item : list.items)
    out += (list.ordered ? fmt::format("{}. ", ++number) : std::string("- ")) + kMarks[static_cast<std::size_t>(item.mark)] +
           inlined(item.text) + '\n';
  return out;
}

std::vector<std::string> MarkdownWriter::cells(const Table& table, const Row& row, bool strong) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].room == kWide) continue;
    const std::string cell = i < row.size() ? inlined(row[i].text, true) : "";
    out.push_back(strong && i == 0 ? "**" + cell + "**" : cell);
  }
  return out;
}

std::string MarkdownWriter::operator()(const Table& table) {
  std::vector<std::string> titles, rules;
  for (const auto& column : table.columns) {
    if (column.room == kWide) continue;
    titles.push_back(markdown_text(column.title));
    rules.emplace_back(column.align == kRight ? "---:" : "---");
  }
  std::string out = table_line(titles) + table_line(rules);
  for (std::size_t i = 0; i < std::min(table.text_rows, table.rows.size()); ++i) out += table_line(cells(table, table.rows[i], false));
  if (table.rows.size() <= table.text_rows)
    for (const auto& row : table.foot) out += table_line(cells(table, row, true));
  return table.text_note.empty() ? out : out + '\n' + markdown_text(table.text_note) + '\n';
}

std::string MarkdownWriter::operator()(const Legend& legend) {
  std::string out;
  for (const auto& entry : legend.entries)
    if (legend.with_text) out += fmt::format("- {}: {}\n", markdown_text(entry.name), markdown_text(entry.text));
  return out;
}

std::string MarkdownWriter::operator()(const Notice& notice) {
  std::string out = "Status: " + inlined(notice.text) + ".\n";
  if (!notice.items.empty()) out += '\n';
  for (const auto& item : notice.items) out += "- " + inlined(item) + '\n';
  return out;
}

std::string MarkdownWriter::operator()(const Card& card) {
  if (!card.in_text) return {};
  std::string out =
      fmt::format("### {}. {}\n\nSeverity {}; {}.\n", card.number, markdown_text(card.title), key_of(card.severity), inlined(card.about));
  if (!card.evidence.items.empty()) out += "\n" + inlined(card.evidence_title) + ":\n\n" + (*this)(card.evidence);
  if (!card.fixes.items.empty()) out += "\nFix:\n\n" + (*this)(card.fixes);
  return card.gain.empty() ? out : out + "\nGain: " + inlined(card.gain) + "\n";
}

std::string MarkdownWriter::joined(const Blocks& blocks) {
  std::string out, heading;  // one that only figures follow is left out with them
  for (const auto& block : blocks) {
    const std::string lines = std::visit(*this, block);
    if (std::holds_alternative<Heading>(block)) {
      heading = lines;
    } else if (!lines.empty()) {
      if (!heading.empty()) out += (out.empty() ? "" : "\n") + std::exchange(heading, {});
      out += (out.empty() ? "" : "\n") + lines;
    }
  }
  return out;
}

}  // namespace

std::string markdown_text(std::string_view raw) {
  const std::string shown = readable(raw);
  const std::string_view text = shown;
  std::string out;
  out.reserve(text.size());
  std::size_t backslashes = 0;  // that the text itself has before this character
  for (std::size_t i = 0; i < text.size(); ++i) {
    // Backslashes of the text would escape the one that is added here, so they are doubled.
    if (needs_escape(text, i)) out += std::string(backslashes + 1, '\\');
    backslashes = text[i] == '\\' ? backslashes + 1 : 0;
    out += printable(text[i]);
  }
  return out;
}

std::string markdown_code(std::string_view text) {
  std::string inside;
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    inside += printable(c);
  }
  inside = readable(inside);
  const std::string fence(longest + 1, '`');
  const std::string pad = longest > 0 || inside.empty() ? " " : "";
  return fence + pad + inside + pad + fence;
}

std::string markdown(const Document& document) {
  MarkdownWriter writer;
  std::string out = "# " + markdown_text(document.title) + "\n\n" + writer.joined(document.lead);
  for (const auto& section : document.sections) {
    if (section.drawn_only) continue;
    const std::string body = writer.joined(section.blocks);
    if (!body.empty()) out += (out[out.size() - 2] == '\n' ? "## " : "\n## ") + markdown_text(section.title) + "\n\n" + body;
  }
  if (const std::string names = writer.names_in_full(); document.full_names && !names.empty()) out += "\n## Names in full\n\n" + names;
  return out;
}

}  // namespace nl::exporters
