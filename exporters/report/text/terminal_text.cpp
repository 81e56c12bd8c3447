#include "exporters/report/text/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/run_text.h"
#include "model/text_table.h"
#include "model/visible_text.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

using namespace report;

constexpr std::size_t kNumbersAlwaysShown = 3;
constexpr std::size_t kTextsOfNarrow = 2, kTextsOfWide = 3, kWideTerminal = 72;  // what, where; and the verdict

std::string plain(const Text& text) {
  std::string out;
  for (const Span& span : text.spans)
    out += span.style == Inline::kName || span.style == Inline::kShortName ? short_kernel_name(span.text) : span.text;
  return out;
}

std::vector<std::string> cells_of(const Table& table, const Row& row) {
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (table.columns[i].room == kAlways) cells.push_back(i < row.size() ? plain(row[i].text) : "");
  return cells;
}

TextTable text_table(const Table& table, std::size_t width) {
  TextTable out;
  out.ruled = true;
  out.always_shown = kNumbersAlwaysShown;
  out.texts_always_shown = width >= kWideTerminal ? kTextsOfWide : kTextsOfNarrow;
  for (const Column& column : table.columns) {
    if (column.room == kWide) continue;
    out.head.push_back(column.title);
    out.numbers.push_back(column.align == kRight);
  }
  for (std::size_t i = 0; i < std::min(table.text_rows, table.rows.size()); ++i) out.rows.push_back(cells_of(table, table.rows[i]));
  if (table.rows.size() <= table.text_rows)
    for (const Row& row : table.foot) out.rows.push_back(cells_of(table, row));
  return out;
}

// Each block as lines, the last one ended; empty: left out.
class TerminalWriter {
 public:
  explicit TerminalWriter(std::size_t width) : width_(width) {}

  std::string operator()(const Paragraph& paragraph) const {
    return paragraph.role == Role::kCaption || paragraph.text.empty() ? "" : line(plain(paragraph.text));
  }
  std::string operator()(const Heading& heading) const { return line(heading.title); }
  std::string operator()(const List& list) const;
  std::string operator()(const Table& table) const;
  std::string operator()(const Legend& legend) const;
  std::string operator()(const Tiles&) const { return {}; }
  std::string operator()(const Notice& notice) const;
  std::string operator()(const Card& card) const;
  std::string operator()(const Figure&) const { return {}; }
  std::string operator()(const Fold& fold) const { return line(fold.title + ":") + "\n" + joined(fold.blocks); }

  std::string line(const std::string& text, std::size_t indent = 0) const { return wrapped(visible_line(text), width_, 0, indent) + "\n"; }
  std::string joined(const Blocks& blocks) const;

 private:
  std::string item(const std::string& text) const { return line("- " + text, 2); }

  std::size_t width_;
};

std::string TerminalWriter::operator()(const List& list) const {
  static constexpr const char* kMarks[] = {"", "", "against it: ", "not captured: "};
  std::string out;
  std::size_t number = 0;
  for (const Item& each : list.items) {
    const std::string text = kMarks[static_cast<std::size_t>(each.mark)] + plain(each.text);
    out += list.ordered ? line(fmt::format("{}. {}", ++number, text), 3) : item(text);
  }
  return out;
}

std::string TerminalWriter::operator()(const Table& table) const {
  const FittedTable shown = fitted(text_table(table, width_), width_);
  std::string out = shown.text;
  if (!shown.left_out.empty()) out += line("not shown for lack of room: " + join(shown.left_out));
  return table.text_note.empty() ? out : out + line(table.text_note);
}

std::string TerminalWriter::operator()(const Legend& legend) const {
  std::string out;
  for (const auto& entry : legend.entries)
    if (legend.with_text) out += item(entry.name + ": " + entry.text);
  return out;
}

std::string TerminalWriter::operator()(const Notice& notice) const {
  std::string out = line("Status: " + plain(notice.text) + ".");
  for (const Text& each : notice.items) out += item(plain(each));
  return out;
}

std::string TerminalWriter::operator()(const Card& card) const {
  if (!card.in_text) return {};
  std::string out = line(fmt::format("{}. {} (severity {}; {})", card.number, card.title, key_of(card.severity), plain(card.about)), 3);
  if (!card.evidence.items.empty()) out += line(plain(card.evidence_title) + ":") + (*this)(card.evidence);
  if (!card.fixes.items.empty()) out += "Fix:\n" + (*this)(card.fixes);
  return card.gain.empty() ? out : out + line("Gain: " + plain(card.gain));
}

std::string TerminalWriter::joined(const Blocks& blocks) const {
  std::string out, heading;  // one that only figures follow is left out with them
  for (const Block& block : blocks) {
    const std::string lines = std::visit(*this, block);
    if (std::holds_alternative<Heading>(block)) {
      heading = lines;
    } else if (!lines.empty()) {
      out += (out.empty() ? "" : "\n") + std::exchange(heading, {}) + lines;
    }
  }
  return out;
}

// A section of which there is nothing but the reason why there is nothing; nullptr: there is something.
const Text* why_empty(const Section& section) {
  const auto* only = section.blocks.size() == 1 ? std::get_if<Paragraph>(&section.blocks.front()) : nullptr;
  return only != nullptr && only->role == Role::kMissing ? &only->text : nullptr;
}

// One item for each reason.
class EmptySections {
 public:
  void add(const std::string& title, const Text& why) {
    const auto same = std::find_if(reasons_.begin(), reasons_.end(), [&](const auto& each) { return plain(each.first) == plain(why); });
    if (same == reasons_.end()) reasons_.push_back({why, {title}});
    else same->second.push_back(title);
  }
  List list() const {
    List out;
    for (const auto& [why, titles] : reasons_) out.items.push_back({Text(join(titles) + ": ") + why});
    return out;
  }

 private:
  std::vector<std::pair<Text, std::vector<std::string>>> reasons_;
};

}  // namespace

Document with_empty_together(Document document) {
  EmptySections empty;
  for (const Section& section : document.sections)
    if (const Text* why = why_empty(section)) empty.add(section.title, *why);
  std::erase_if(document.sections, [](const Section& section) { return why_empty(section) != nullptr; });
  if (List list = empty.list(); !list.items.empty())
    document.sections.push_back({"nothing", "Nothing to show", "Nothing to show", {std::move(list)}});
  return document;
}

std::string terminal_text(const Document& document, std::size_t width) {
  const TerminalWriter writer(width);
  std::string out = writer.joined(document.lead);
  const Document shown = with_empty_together(document);
  for (const Section& section : shown.sections) {
    const std::string body = section.drawn_only ? std::string() : writer.joined(section.blocks);
    if (!body.empty()) out += fmt::format("{}{}\n{}", out.empty() ? "" : "\n", writer.line("# " + section.title), body);
  }
  return out;
}

}  // namespace nl::exporters
