#include <set>
#include <sstream>
#include <string>

#include "exporters/report/reports.h"
#include "model/glossary.h"
#include "tests/catch.h"
#include "tests/unit/exporters/every_value_run.h"
#include "tests/unit/exporters/report/markdown_cells.h"
#include "tests/unit/exporters/sample_run.h"

namespace {

// The columns of numbers, over all tables of a report.
std::set<std::string> number_columns(const std::string& text) {
  std::set<std::string> out;
  std::istringstream lines(text);
  std::string before, line;
  for (; std::getline(lines, line); before = line) {
    if (!line.starts_with("| ---") || !before.starts_with("|")) continue;
    const auto rules = cells(line), titles = cells(before);
    for (std::size_t i = 1; i < rules.size() && i < titles.size(); ++i)
      if (rules[i].ends_with(':')) out.insert(titles[i]);
  }
  return out;
}

bool is_stage_of(const nl::Run& run, const std::string& title) {
  for (const nl::StageEntry& stage : run.stages)
    if (title.starts_with(stage.name)) return true;
  return false;
}

bool is_rank_of(const nl::Run& run, const std::string& title) {
  for (const std::uint32_t rank : run.rank_matrix.ranks)
    if (title == "rank " + std::to_string(rank)) return true;
  return false;
}

}  // namespace

TEST_CASE("every column of numbers in a report is in the glossary") {
  std::size_t seen = 0;
  for (const nl::Run& run : {nl::test::rich_run(), nl::test::full_run(), nl::test::host_run(), nl::test::every_value_run()})
    for (const auto report : {nl::exporters::report_markdown, nl::exporters::stakeholder_markdown, nl::exporters::operators_markdown,
                              nl::exporters::kernels_markdown})
      for (const std::string& column : number_columns(report(run))) {
        if (column.empty() || is_stage_of(run, column) || is_rank_of(run, column)) continue;
        CAPTURE(column);
        CHECK(nl::glossary_entry(column) != nullptr);
        ++seen;
      }
  CHECK(seen > 100);
}
