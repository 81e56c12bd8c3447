#pragma once

#include <cstdint>

#include "parsers/sqlite_pages/page_file.h"

namespace nl::parsers::sqlite_pages {

// A page of a table's tree, its head and its list of cells checked. Leaves hold rows; the others hold, for each child but the last, the largest
// rowid below it.
class TreePage {
 public:
  static constexpr std::size_t kMostLevels = 20;  // of a tree, as in SQLite; no file is large enough for more

  TreePage() = default;
  // `bytes`: of the page, which must stay as long as this is used.
  TreePage(const PageFile& pages, const Byte* bytes, std::uint32_t number, std::uint32_t named_by);
  // Whether a table can begin here: a table WITHOUT ROWID is a tree of another kind.
  static bool is_of_table(const PageFile& pages, std::uint32_t number);

  std::uint32_t number() const { return number_; }
  bool is_leaf() const { return leaf_; }
  std::uint32_t cells() const { return cells_; }
  const Byte* cell(std::uint32_t index) const {
    const Byte* at = cell_if_there(index);
    if (at == nullptr) cell_damaged(index, "lies outside of the page");
    return at;
  }
  const Byte* cell_if_there(std::uint32_t index) const {
    const std::uint32_t at = big_endian_2(cell_list_ + 2 * std::size_t{index});
    return at - first_cell_ <= last_cell_ - first_cell_ ? page_ + at : nullptr;
  }
  const Byte* end() const { return end_; }  // of what cells may use

  // Of pages that are not leaves; children are numbered from 0 to cells(), the last has no key.
  std::uint32_t child(std::uint32_t index) const;
  std::int64_t key(std::uint32_t index) const;
  // That keys ascend from `lowest` to `highest`, without which a tree could lead round in circles.
  void check_keys(std::int64_t lowest, std::int64_t highest) const;

  [[noreturn]] void cell_damaged(std::uint32_t index, std::string_view what) const;

 private:
  const PageFile* pages_ = nullptr;
  const Byte* page_ = nullptr;
  const Byte* cell_list_ = nullptr;
  const Byte* end_ = nullptr;
  std::uint32_t number_ = 0, cells_ = 0;
  std::uint32_t first_cell_ = 0, last_cell_ = 0;  // where a cell may begin
  std::uint32_t right_child_ = 0;
  bool leaf_ = true;
};

}  // namespace nl::parsers::sqlite_pages
