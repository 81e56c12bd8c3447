#include "parsers/sqlite_pages/row_ranges.h"

#include <algorithm>

#include "parsers/sqlite_pages/page_window.h"

namespace nl::parsers::sqlite_pages {
namespace {

constexpr std::size_t kSubtreesEach = 16;  // of a part: so many that parts differ by a sixteenth at most

struct Subtree {
  std::uint32_t page = 0;
  std::uint32_t named_by = 0;
  RowRange rows;
};

// False where it is a leaf.
bool append_children(const PageFile& pages, const Subtree& parent, std::vector<Subtree>& out) {
  PageWindow window(pages);
  const TreePage page(pages, window.page(parent.page, parent.named_by), parent.page, parent.named_by);
  if (page.is_leaf()) return false;
  page.check_keys(parent.rows.first, parent.rows.last);
  RowRange rows = parent.rows;
  for (std::uint32_t i = 0; i <= page.cells(); ++i) {
    rows.last = i < page.cells() ? page.key(i) : parent.rows.last;
    out.push_back({page.child(i), page.number(), rows});
    rows.first = rows.last == INT64_MAX ? rows.last : rows.last + 1;
  }
  return true;
}

std::vector<Subtree> subtrees(const PageFile& pages, std::uint32_t root, std::size_t wanted) {
  std::vector<Subtree> level{{root, root, {}}};
  for (std::size_t depth = 0; level.size() < wanted && depth < TreePage::kMostLevels; ++depth) {
    std::vector<Subtree> below;
    for (const Subtree& each : level)
      if (!append_children(pages, each, below)) return level;
    level = std::move(below);
  }
  return level;
}

}  // namespace

std::vector<RowRange> split_by_leaves(const PageFile& pages, const TableShape& table, std::size_t parts) {
  if (parts <= 1) return {RowRange()};
  const std::vector<Subtree> all = subtrees(pages, table.root, parts * kSubtreesEach);
  parts = std::min(parts, all.size());
  std::vector<RowRange> ranges;
  for (std::size_t i = 0; i < parts; ++i)
    ranges.push_back({all[i * all.size() / parts].rows.first, all[(i + 1) * all.size() / parts - 1].rows.last});
  return ranges;
}

}  // namespace nl::parsers::sqlite_pages
