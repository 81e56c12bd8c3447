#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/run.h"

namespace nl::exporters::html {

// What stands in a cell: markup that is already escaped, and what the cell is sorted by where that is a number.
struct Cell {
  std::string markup;
  std::optional<double> sort;
  std::string tip;  // plain text, shown when pointed at

  Cell(std::string markup, std::optional<double> sort = std::nullopt, std::string tip = {})
      : markup(std::move(markup)), sort(sort), tip(std::move(tip)) {}
};

Cell text_cell(const std::string& plain);     // escaped here
Cell name_cell(const std::string& name);      // a kernel's: shortened, the whole of it unfolds
Cell time_cell(double ns);                    // "4.119 ms", the nanoseconds in the tip
Cell time_cell(const std::optional<Ns>& ns);  // a dash where there is none
Cell count_cell(std::uint64_t count);
Cell share_cell(const std::optional<double>& share);
Cell figure_cell(const std::optional<double>& value, const char* unit = "");
Cell percent_cell(const std::optional<double>& percent);

// A table in a box of its own that scrolls sideways, so that the page never does. The script makes its heads sortable.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;  // numbers
  };
  Table(std::string label, std::vector<Column> columns);
  Table& sortable(bool filter = false);  // filter: with a field to search its rows
  void add(const std::vector<Cell>& cells);
  void foot(const std::vector<Cell>& cells);  // below the rows, never sorted away
  bool empty() const { return rows_.empty(); }
  std::string markup() const;

 private:
  std::string row(const std::vector<Cell>& cells) const;
  std::string label_;
  std::vector<Column> columns_;
  std::string rows_, foot_;
  bool sortable_ = false, filter_ = false;
};

}  // namespace nl::exporters::html
