#pragma once

#include <string>
#include <vector>

// The cells of one row of a Markdown table.
inline std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out(1);
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '|' && line[i - 1] != '\\') out.emplace_back();
    else out.back() += line[i];
  }
  for (auto& cell : out) {
    cell.erase(0, cell.find_first_not_of(' '));
    cell.erase(cell.find_last_not_of(' ') + 1);
  }
  out.pop_back();  // behind the last pipe
  return out;
}
