#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nl::exporters {

// Text that stays itself in a Markdown table: one line, pipes escaped, and no `<unnamed>` that a browser
// would take for a tag. Nothing else changes, so that scripts find names as they are.
std::string markdown_text(std::string_view text);

// A code span on one line whose fence is longer than any run of backticks inside.
std::string markdown_code(std::string_view text);
std::string markdown_code_cell(std::string_view text);  // the same for a table, which splits even code at a pipe

// A pipe table. Cells are written as they are: pass text through markdown_text() first.
class MarkdownTable {
 public:
  struct Column {
    std::string title;
    bool right = false;  // numbers
  };
  explicit MarkdownTable(std::vector<Column> columns);
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_ == 0; }
  const std::string& text() const { return text_; }

 private:
  void line(const std::vector<std::string>& cells);

  std::size_t width_;
  std::size_t rows_ = 0;
  std::string text_;
};

}  // namespace nl::exporters
