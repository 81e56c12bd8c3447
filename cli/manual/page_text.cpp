#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "cli/manual/topics.h"
#include "model/visible_text.h"

// The Markdown of docs/: headings, paragraphs, lists, tables, code that is indented or fenced, links and emphasis. Nothing else stands there.
namespace nl::cli {
namespace {

constexpr std::string_view kCodeFence = "```", kIndentedCode = "    ", kHeadingMark = "#", kCommentMark = "<!--", kTableBar = "|";
constexpr std::size_t kLeastTableColumn = 12;  // a table with a narrower one is shown row by row

// "[rules.md](rules.md)" is rules.md, "[the ledger](ledger.md#tags)" the ledger (docs/ledger.md), "![rooms](rooms.svg)" nothing.
std::string link_in_words(std::string_view text, std::string_view target) {
  target = target.substr(0, target.find('#'));
  if (!target.ends_with(".md") || text == target) return std::string(text);
  return fmt::format("{} (docs/{})", text, target);
}

// A line without its marks. Inside code nothing is a mark.
std::string without_marks(std::string_view line) {
  std::string out;
  bool code = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::size_t middle = line.find("](", i), end = middle == line.npos ? line.npos : line.find(')', middle);
    if (line[i] == '`') code = !code, out += '`';
    else if (code) out += line[i];
    else if (line[i] == '\\' && i + 1 < line.size() && std::ispunct(static_cast<unsigned char>(line[i + 1]))) out += line[++i];
    else if (line.substr(i, 2) == "**") ++i;
    else if ((line[i] == '[' || line.substr(i, 2) == "![") && end != line.npos && line.find('[', i + 2) >= middle) {
      if (line[i] == '[') out += link_in_words(line.substr(i + 1, middle - i - 1), line.substr(middle + 2, end - middle - 2));
      i = end;
    } else out += line[i];
  }
  return out;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == text.npos ? std::string_view() : text.substr(first, last - first + 1);
}

// "| a | `b\|c` |" has the cells "a" and "`b|c`".
std::vector<std::string> table_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') cells.back() += line[++i];
    else if (line[i] == '|') cells.emplace_back();
    else cells.back() += line[i];
  }
  if (without_blanks(cells.back()).empty()) cells.pop_back();
  for (std::string& cell : cells) cell = without_marks(without_blanks(cell));
  return cells;
}

using PageRow = std::vector<std::string>;

std::vector<std::string> text_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// As wide as their widest cells; where that does not fit, the widest gives way, again and again. Empty: one would be too narrow to read.
std::vector<std::size_t> column_widths(const std::vector<PageRow>& rows, std::size_t width) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const PageRow& row : rows)
    for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  const std::size_t between = 2 * (widths.size() - 1);
  while (std::accumulate(widths.begin(), widths.end(), between) > width) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= kLeastTableColumn) return {};
    --*widest;
  }
  return widths;
}

std::string padded_cell(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, columns_of(text)), ' ');
}

std::string table_row(const PageRow& row, const std::vector<std::size_t>& widths) {
  std::vector<std::vector<std::string>> cells(widths.size());
  std::size_t height = 1;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    cells[i] = text_lines(wrapped(i < row.size() ? row[i] : "", widths[i], 0, 0));
    height = std::max(height, cells[i].size());
  }
  std::string out;
  for (std::size_t line = 0; line < height; ++line) {
    std::string text;
    for (std::size_t i = 0; i < widths.size(); ++i) text += padded_cell(line < cells[i].size() ? cells[i][line] : "", widths[i]) + "  ";
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

// Too narrow for columns: each row is its first cell, and below it the others.
std::string stacked_rows(const std::vector<PageRow>& rows, std::size_t width) {
  std::string out;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    out += wrapped(rows[i].front(), width, 0, 0) + "\n";
    for (std::size_t k = 1; k < rows[i].size(); ++k) {
      const std::string title = k < rows[0].size() && !rows[0][k].empty() ? rows[0][k] + ": " : "";
      if (!rows[i][k].empty()) out += "    " + wrapped(title + rows[i][k], width, 4, 4) + "\n";
    }
  }
  return out;
}

std::string page_table(const std::vector<PageRow>& rows, std::size_t width) {
  const auto widths = column_widths(rows, width);
  // A word that is longer than its column would push the next one aside.
  const bool fits = !widths.empty() && std::all_of(rows.begin(), rows.end(), [&](const PageRow& row) {
    const auto lines = text_lines(table_row(row, widths));
    return std::all_of(lines.begin(), lines.end(), [&](const std::string& line) { return columns_of(line) <= width; });
  });
  if (!fits) return stacked_rows(rows, width);
  std::string out = table_row(rows.front(), widths), rule;
  for (const std::size_t each : widths) rule += std::string(each, '-') + "  ";
  out += rule.substr(0, rule.size() - 2) + "\n";
  for (std::size_t i = 1; i < rows.size(); ++i) out += table_row(rows[i], widths);
  return out;
}

// "- ", "12. ": how far the text of an item is indented; 0: the line begins none.
std::size_t item_begin(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::string_view text = line.substr(begin);
  if (text.starts_with("- ") || text.starts_with("* ")) return begin + 2;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return digits > 0 && text.substr(digits).starts_with(". ") ? begin + digits + 2 : 0;
}

class PageWriter {
 public:
  explicit PageWriter(std::size_t width) : width_(width) {}

  void add(std::string_view line) {
    if (line.starts_with(kCodeFence)) return flush(), void(fenced_ = !fenced_);
    if (fenced_) return verbatim(line);
    if (without_blanks(line).empty()) return flush(), void(blank_ = true);
    if (line.starts_with(kCommentMark)) return;
    if (line.starts_with(kTableBar)) return table_line(line);
    if (prose_.empty() && line.starts_with(kIndentedCode)) return verbatim(line.substr(kIndentedCode.size()));
    if (line.starts_with(kHeadingMark)) return flush(), void(block(without_marks(line)));
    if (const std::size_t indent = item_begin(line); indent > 0) return begin_item(line, indent);
    if (!rows_.empty()) flush();
    prose_ += (prose_.empty() ? "" : " ") + without_marks(without_blanks(line));
  }

  std::string finished() {
    flush();
    return std::move(out_);
  }

 private:
  enum class Last { kNothing, kBlock, kItem, kVerbatim };

  void separate(Last next) {
    if (last_ != Last::kNothing && (last_ != next || next == Last::kBlock)) out_ += "\n";
    last_ = next;
  }
  void block(const std::string& text) {
    separate(Last::kBlock);
    out_ += wrapped(text, width_, 0, 0) + "\n";
  }
  void verbatim(std::string_view line) {
    flush();
    if (last_ == Last::kVerbatim && blank_) out_ += "\n";
    separate(Last::kVerbatim);
    blank_ = false;
    out_ += fmt::format("    {}\n", line);
  }
  void begin_item(std::string_view line, std::size_t indent) {
    flush();
    begin_ = std::string(line.substr(0, indent));
    prose_ = without_marks(line.substr(indent));
  }
  // "| --- | ---: |" tells a head from what is below it.
  void table_line(std::string_view line) {
    if (!prose_.empty()) flush();
    if (line.find_first_not_of("|-: ") != line.npos) rows_.push_back(table_cells(line));
  }
  void flush() {
    if (!rows_.empty()) {
      separate(Last::kBlock);
      out_ += page_table(rows_, width_);
    } else if (!begin_.empty()) {
      separate(Last::kItem);
      out_ += begin_ + wrapped(prose_, width_, begin_.size(), begin_.size()) + "\n";
    } else if (!prose_.empty()) {
      block(prose_);
    }
    rows_.clear();
    begin_.clear();
    prose_.clear();
  }

  std::size_t width_;
  std::string out_, prose_, begin_;  // begin_: of an item
  std::vector<PageRow> rows_;
  Last last_ = Last::kNothing;
  bool fenced_ = false;
  bool blank_ = false;  // since the last line of code
};

}  // namespace

std::string page_text(std::string_view markdown, std::size_t width) {
  if (width == 0) return std::string(markdown);
  PageWriter page(width);
  std::istringstream lines{std::string(markdown)};
  for (std::string line; std::getline(lines, line);) page.add(line);
  return page.finished();
}

}  // namespace nl::cli
