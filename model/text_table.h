#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace nl {

// A table of plain text: columns that stand under each other, two blanks between them.
struct TextTable {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
  std::vector<bool> numbers;                                                 // columns to the right; missing: to the left
  std::size_t always_shown = 1;                                              // of the columns of numbers, those that are never left out
  bool ruled = false;                                                        // a line of dashes under the head
  std::size_t texts_always_shown = std::numeric_limits<std::size_t>::max();  // as many columns of texts are always shown
};

struct FittedTable {
  std::string text;                   // ends with a line end
  std::vector<std::string> left_out;  // titles of columns
};

// Not wider than `width`, as far as that is possible: texts are cut, but not below 24 places; where that is not enough, columns of
// numbers are left out, the last first, then columns of texts; then texts are cut to 12, and at last to 8. 0: as wide as it is. Control characters in a cell are made visible.
FittedTable fitted(TextTable table, std::size_t width);

}  // namespace nl
