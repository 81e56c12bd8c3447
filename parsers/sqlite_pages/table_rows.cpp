#include "parsers/sqlite_pages/table_rows.h"

#include <algorithm>
#include <cmath>

#include "parsers/sqlite_pages/overflow.h"

namespace nl::parsers::sqlite_pages {
namespace {

constexpr std::size_t kBeforeWhole = 8;  // integer() reads up to eight bytes that end with the number
constexpr std::uint64_t kMostPayload = INT32_MAX;

std::vector<WantedColumn> wanted_of(const TableShape& table, const std::vector<std::string_view>& columns) {
  std::vector<WantedColumn> wanted;
  for (const std::string_view column : columns) wanted.push_back(table.wanted(column));
  return wanted;
}

}  // namespace

TableRows::TableRows(const PageFile& pages, const TableShape& table, const std::vector<std::string_view>& columns, const RowRange& range)
    : pages_(pages), window_(pages), root_(table.root), range_(range), records_(wanted_of(table, columns)) {}

bool TableRows::next_leaf() {
  if (!begun_) {
    begun_ = true;
    descend(root_, root_, INT64_MAX);
    return leaf_.cells() > 0;
  }
  while (!levels_.empty()) {
    Level& level = levels_.back();
    if (level.child < level.page.cells()) {
      const std::int64_t below = level.page.key(level.child);
      if (below >= range_.last) return false;
      // All that is left of here has rowids of at most that key.
      if (below >= lowest_) lowest_ = below + 1;
      ++level.child;
      descend(level.page.child(level.child), level.page.number(),
              level.child < level.page.cells() ? level.page.key(level.child) : level.highest);
      return true;
    }
    levels_.pop_back();
  }
  return false;
}

// To the leaf below that holds the range's first rowid, or else the lowest.
void TableRows::descend(std::uint32_t number, std::uint32_t named_by, std::int64_t highest) {
  for (;;) {
    const Byte* bytes = window_.page(number, named_by, window_.holds(number) ? 0 : following());
    if (const TreePage leaf(pages_, bytes, number, named_by); leaf.is_leaf()) return enter(leaf, highest);
    if (levels_.size() == TreePage::kMostLevels) pages_.damaged(number, "is too deep in the tree of a table");
    // The window moves on with the leaves.
    std::unique_ptr<Byte[]> kept(new Byte[pages_.page_bytes()]);
    std::copy_n(bytes, pages_.page_bytes(), kept.get());
    const TreePage page(pages_, kept.get(), number, named_by);
    page.check_keys(lowest_, highest);
    const std::uint32_t child = first_child(page);
    levels_.push_back({std::move(kept), page, child, highest});
    if (child > 0) lowest_ = std::max(lowest_, page.key(child - 1) + 1);
    if (child < page.cells()) highest = page.key(child);
    named_by = number;
    number = page.child(child);
  }
}

std::uint32_t TableRows::first_child(const TreePage& page) const {
  std::uint32_t low = 0, high = page.cells();
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (page.key(middle) < range_.first) low = middle + 1;
    else high = middle;
  }
  return low;
}

// How many pages behind that of the present child belong to the next children, or lie between them and are few.
std::uint32_t TableRows::following() const {
  constexpr std::uint32_t kMostBetween = 4;
  if (levels_.empty()) return 0;
  const Level& level = levels_.back();
  const std::uint32_t first = level.page.child(level.child);
  std::uint32_t last = first;
  for (std::uint32_t child = level.child; child < level.page.cells() && level.page.key(child) < range_.last; ++child) {
    const std::uint32_t next = level.page.child(child + 1);
    if (next <= last || next - last > kMostBetween || next - first >= window_.most_pages()) break;
    last = next;
  }
  return last - first;
}

void TableRows::enter(const TreePage& leaf, std::int64_t highest) {
  leaf_ = leaf;
  cell_ = 0;
  highest_ = highest;
}

// payload bytes (varint), rowid (varint), payload [page of the rest (4)]
void TableRows::read_cell(std::uint32_t index) {
  const Byte* end = leaf_.end();
  std::uint64_t rowid;
  const Byte* at = read_varint(leaf_.cell(index), end, payload_bytes_);
  if (at != nullptr) at = read_varint(at, end, rowid);
  if (at == nullptr || payload_bytes_ == 0 || payload_bytes_ > kMostPayload) leaf_.cell_damaged(index, "has no size that a row can have");
  rowid_ = static_cast<std::int64_t>(rowid);
  if (rowid_ < lowest_ || rowid_ > highest_) leaf_.cell_damaged(index, "is out of order");
  lowest_ = rowid_ == INT64_MAX ? rowid_ : rowid_ + 1;
  payload_ = at;
  bytes_here_ = bytes_on_leaf(payload_bytes_, pages_.usable_bytes());
  const bool overflows = bytes_here_ < payload_bytes_;
  if (end - at < static_cast<std::ptrdiff_t>(bytes_here_ + (overflows ? 4 : 0))) leaf_.cell_damaged(index, "ends behind the page");
  layout_ = records_.layout(payload_, payload_ + bytes_here_);
  if (overflows && layout_ == nullptr) {
    put_together();
    layout_ = records_.layout(payload_, payload_ + bytes_here_);
  }
  if (layout_ == nullptr || layout_->least_bytes > payload_bytes_ || (layout_->whole && layout_->least_bytes != payload_bytes_))
    leaf_.cell_damaged(index, "is no record");
  if (layout_->numbers_end > bytes_here_) put_together();
}

// Rows behind the present one that have its layout and lie on its leaf whole. Whatever else is met there, damage too, is left to next().
std::size_t TableRows::read_alike(std::size_t most) {
  const Byte* const end = leaf_.end();
  const std::int64_t highest = std::min(highest_, range_.last);
  const std::uint64_t most_bytes = most_on_leaf(pages_.usable_bytes());
  const RecordLayout& layout = *layout_;
  std::size_t rows = 0;
  for (; rows < most && cell_ < leaf_.cells(); ++rows, ++cell_) {
    std::uint64_t bytes = 0, rowid = 0;
    const Byte* at = leaf_.cell_if_there(cell_);
    if (at != nullptr) at = read_varint(at, end, bytes);
    if (at != nullptr) at = read_varint(at, end, rowid);
    const auto number = static_cast<std::int64_t>(rowid);
    if (at == nullptr || number < lowest_ || number > highest || number == INT64_MAX) break;
    if (bytes > most_bytes || bytes > static_cast<std::uint64_t>(end - at) || *at > bytes) break;
    if (layout.key_bytes - 1 >= *at || !layout.has_key(at)) break;
    if (layout.whole ? layout.least_bytes != bytes : layout.least_bytes > bytes) break;
    lowest_ = number + 1;
    payloads_[rows + 1] = at;
  }
  return rows;
}

void TableRows::decode(const Slot& slot, std::size_t rows, std::int64_t* out) const {
  if (slot.place == Slot::Place::kHeader) std::fill_n(out, rows, slot.constant);
  if (!slot.is_whole || slot.place != Slot::Place::kRecord) return;
  const unsigned shift = 64 - 8 * slot.bytes;
  const std::ptrdiff_t end = std::ptrdiff_t{slot.offset} + slot.bytes - 8;
  for (std::size_t i = 0; i < rows; ++i) out[i] = static_cast<std::int64_t>(big_endian_8(payloads_[i] + end) << shift) >> shift;
}

void TableRows::put_together() {
  const Byte* rest = payload_ + bytes_here_;
  whole_.assign(kBeforeWhole, 0);
  whole_.insert(whole_.end(), payload_, rest);
  append_chain(pages_, big_endian_4(rest), leaf_.number(), payload_bytes_ - bytes_here_, whole_);
  payload_ = whole_.data() + kBeforeWhole;
  bytes_here_ = static_cast<std::uint32_t>(payload_bytes_);
}

std::int64_t TableRows::other_integer(std::size_t column) const {
  const Slot& slot = layout_->slots[column];
  switch (slot.place) {
    case Slot::Place::kRowid: return rowid_;
    case Slot::Place::kDefault: return records_.wanted()[column].default_integer;
    default: return 0;
  }
}

double TableRows::real(std::size_t column) const {
  const Slot& slot = layout_->slots[column];
  if (slot.is_whole) return static_cast<double>(integer(column));
  return std::bit_cast<double>(big_endian_8(payload_ + slot.offset));
}

// SQLite has no number that is none: it reads as NULL.
ValueKind TableRows::kind_of_real(std::size_t column) const { return std::isnan(real(column)) ? ValueKind::kNull : ValueKind::kReal; }

std::string_view TableRows::bytes(std::size_t column) {
  const Slot& slot = layout_->slots[column];
  if (slot.place == Slot::Place::kDefault) return records_.wanted()[column].default_text;
  if (slot.offset + slot.bytes > bytes_here_) put_together();
  return {reinterpret_cast<const char*>(payload_ + slot.offset), slot.bytes};
}

}  // namespace nl::parsers::sqlite_pages
