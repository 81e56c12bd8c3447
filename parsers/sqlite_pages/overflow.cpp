#include "parsers/sqlite_pages/overflow.h"

#include <algorithm>
#include <array>

#include "parsers/sqlite_pages/page_window.h"

namespace nl::parsers::sqlite_pages {
namespace {

constexpr std::uint32_t kLinkBytes = 4;  // before the bytes of a page: the number of the next one, 0 in the last

// A database that may be vacuumed step by step has, every so many pages, one that says of each of the pages behind it what it is and what names
// it. SQLite finds the next page of a chain by that where it can, so that both have to agree.
void check_pointer_map(const PageFile& pages, std::uint32_t page, std::uint32_t named_by, bool first) {
  constexpr Byte kFirstOfChain = 3, kLaterOfChain = 4;
  constexpr std::uint32_t kEntryBytes = 5;
  const std::uint32_t stretch = pages.usable_bytes() / kEntryBytes + 1;
  const std::uint32_t map = (page - 2) / stretch * stretch + 2;
  if (map == page) pages.damaged(page, "is a pointer map, not a part of a row");
  pages.check(map, page);
  std::array<Byte, kEntryBytes> entry{};
  pages.read_at(std::uint64_t{map - 1} * pages.page_bytes() + kEntryBytes * std::uint64_t{page - map - 1}, entry.size(), entry.data());
  if (entry[0] != (first ? kFirstOfChain : kLaterOfChain) || big_endian_4(entry.data() + 1) != named_by)
    pages.damaged(map, "does not say of page " + std::to_string(page) + " that it is a part of a row");
}

}  // namespace

std::uint32_t bytes_on_leaf(std::uint64_t payload_bytes, std::uint32_t usable_bytes) {
  const std::uint32_t most = most_on_leaf(usable_bytes);
  if (payload_bytes <= most) return static_cast<std::uint32_t>(payload_bytes);
  const std::uint32_t least = (usable_bytes - 12) * 32 / 255 - 23;
  const auto filling = static_cast<std::uint32_t>(least + (payload_bytes - least) % (usable_bytes - kLinkBytes));
  return filling <= most ? filling : least;
}

void append_chain(const PageFile& pages, std::uint32_t first, std::uint32_t leaf, std::uint64_t bytes, std::vector<Byte>& out) {
  const std::uint32_t each = pages.usable_bytes() - kLinkBytes;
  // A chain that goes round in circles would yield any number of bytes.
  if (bytes > std::uint64_t{pages.page_count()} * each) pages.damaged(leaf, "has a row that is longer than the file");
  out.reserve(out.size() + bytes);
  PageWindow window(pages);
  std::uint32_t named_by = leaf;
  for (std::uint32_t number = first; bytes > 0;) {
    if (number == 1) pages.damaged(named_by, "names page 1 as a part of a row");
    // Where two of a chain's pages lie one after another, most do.
    const std::uint64_t following = number == named_by + 1 ? bytes / each : 0;
    const Byte* page = window.page(number, named_by, static_cast<std::uint32_t>(std::min<std::uint64_t>(following, UINT32_MAX)));
    if (pages.has_pointer_maps()) check_pointer_map(pages, number, named_by, named_by == leaf);
    const auto here = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, each));
    out.insert(out.end(), page + kLinkBytes, page + kLinkBytes + here);
    bytes -= here;
    named_by = number;
    number = big_endian_4(page);
  }
}

}  // namespace nl::parsers::sqlite_pages
