#include "model/text_table.h"

#include <algorithm>

#include "model/visible_text.h"

namespace nl {
namespace {

constexpr std::size_t kShortestText = 24, kLeastText = 12, kTightText = 8, kGap = 2;

using Row = std::vector<std::string>;

bool is_number(const TextTable& table, std::size_t column) { return column < table.numbers.size() && table.numbers[column]; }

std::vector<std::size_t> widths_of(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (const std::string& title : table.head) widths.push_back(columns_of(title));
  for (const Row& row : table.rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
  return widths;
}

std::size_t sum_of(const std::vector<std::size_t>& widths) {
  std::size_t sum = widths.empty() ? 0 : kGap * (widths.size() - 1);
  for (const std::size_t width : widths) sum += width;
  return sum;
}

void make_visible(TextTable& table) {
  for (std::string& title : table.head) title = visible_line(title);
  for (Row& row : table.rows)
    for (std::string& cell : row) cell = visible_line(cell);
}

std::size_t least_width(const TextTable& table, std::vector<std::size_t> widths) {
  for (std::size_t i = 0; i < widths.size(); ++i)
    if (!is_number(table, i)) widths[i] = std::min(widths[i], kShortestText);
  return sum_of(widths);
}

// The widest text first, as far as needed.
void narrow_texts(const TextTable& table, std::size_t width, std::size_t shortest, std::vector<std::size_t>& widths) {
  while (sum_of(widths) > width) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (!is_number(table, i) && widths[i] > shortest && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    if (widest == widths.size()) return;
    widths[widest] -= std::min(sum_of(widths) - width, widths[widest] - shortest);
  }
}

void leave_out(TextTable& table, std::size_t column, FittedTable& fitted, std::vector<std::size_t>& widths) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  fitted.left_out.insert(fitted.left_out.begin(), table.head[column]);
  table.head.erase(table.head.begin() + at);
  table.numbers.erase(table.numbers.begin() + at);
  widths.erase(widths.begin() + at);
  for (Row& row : table.rows) row.erase(row.begin() + at);
}

// The last column of numbers, or else of texts; that of none where all of them are always shown.
std::size_t column_to_leave_out(const TextTable& table) {
  const std::size_t none = table.head.size();
  std::size_t numbers = 0, texts = 0, last_number = none, last_text = none;
  for (std::size_t i = 0; i < table.head.size(); ++i) {
    if (is_number(table, i) && ++numbers > table.always_shown) last_number = i;
    if (!is_number(table, i) && ++texts > table.texts_always_shown) last_text = i;
  }
  return last_number == none ? last_text : last_number;
}

std::string aligned_line(const TextTable& table, const Row& row, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string cell = cut_to(row[i], widths[i]);
    const std::string padding(widths[i] - columns_of(cell), ' ');
    line += (i == 0 ? "" : std::string(kGap, ' ')) + (is_number(table, i) ? padding + cell : cell + padding);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

}  // namespace

FittedTable fitted(TextTable table, std::size_t width) {
  FittedTable out;
  make_visible(table);
  table.numbers.resize(table.head.size());
  std::vector<std::size_t> widths = widths_of(table);
  if (width > 0) {
    for (std::size_t column; least_width(table, widths) > width && (column = column_to_leave_out(table)) < table.head.size();)
      leave_out(table, column, out, widths);
    for (const std::size_t shortest : {kShortestText, kLeastText, kTightText}) narrow_texts(table, width, shortest, widths);
  }
  out.text = aligned_line(table, table.head, widths);
  if (table.ruled) {
    Row rule;
    for (const std::size_t each : widths) rule.emplace_back(each, '-');
    out.text += aligned_line(table, rule, widths);
  }
  for (const Row& row : table.rows) out.text += aligned_line(table, row, widths);
  return out;
}

}  // namespace nl
