#include "parsers/sqlite_pages/tree_page.h"

#include <array>

#include <fmt/core.h>

namespace nl::parsers::sqlite_pages {
namespace {

constexpr Byte kTableInterior = 0x05, kTableLeaf = 0x0D;
constexpr std::uint32_t kFileHeader = 100;  // before the head of page 1
constexpr std::uint32_t kLeastCell = 4;

const Byte* head_of(const Byte* page, std::uint32_t number) { return number == 1 ? page + kFileHeader : page; }

}  // namespace

bool TreePage::is_of_table(const PageFile& pages, std::uint32_t number) {
  if (number == 0 || number > pages.page_count()) return false;
  std::array<Byte, kFileHeader + 1> bytes{};
  pages.read(number, bytes.size(), bytes.data());
  const Byte kind = *head_of(bytes.data(), number);
  return kind == kTableInterior || kind == kTableLeaf;
}

// kind(1) first-free-block(2) cells(2) content(2) fragments(1) [right-child(4)] then two bytes for each cell
TreePage::TreePage(const PageFile& pages, const Byte* bytes, std::uint32_t number, std::uint32_t named_by)
    : pages_(&pages), page_(bytes), end_(page_ + pages.usable_bytes()), number_(number) {
  const Byte* head = head_of(page_, number);
  if (*head != kTableInterior && *head != kTableLeaf) pages.damaged(number, "is not a page of a table");
  leaf_ = *head == kTableLeaf;
  cells_ = big_endian_2(head + 3);
  cell_list_ = head + (leaf_ ? 8 : 12);
  if (!leaf_) right_child_ = big_endian_4(head + 8);
  first_cell_ = static_cast<std::uint32_t>(cell_list_ - page_) + 2 * cells_;
  last_cell_ = pages.usable_bytes() - kLeastCell;
  if (cells_ > 0 && first_cell_ > last_cell_) pages.damaged(number, fmt::format("cannot hold {} cells", cells_));
  // Only the root may be empty; page 1, which has less room, may have a single child.
  if (cells_ == 0 && (leaf_ ? named_by != number : number != 1)) pages.damaged(number, "is empty");
}

std::uint32_t TreePage::child(std::uint32_t index) const { return index == cells_ ? right_child_ : big_endian_4(cell(index)); }

std::int64_t TreePage::key(std::uint32_t index) const {
  std::uint64_t key;
  if (read_varint(cell(index) + 4, end_, key) == nullptr) cell_damaged(index, "ends behind the page");
  return static_cast<std::int64_t>(key);
}

void TreePage::check_keys(std::int64_t lowest, std::int64_t highest) const {
  for (std::uint32_t i = 0; i < cells_; ++i) {
    const std::int64_t each = key(i);
    if (each < lowest || each > highest) cell_damaged(i, "is out of order");
    lowest = each == INT64_MAX ? each : each + 1;
  }
}

void TreePage::cell_damaged(std::uint32_t index, std::string_view what) const {
  pages_->damaged(number_, fmt::format("is wrong: cell {} {}", index, what));
}

}  // namespace nl::parsers::sqlite_pages
