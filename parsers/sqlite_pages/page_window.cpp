#include "parsers/sqlite_pages/page_window.h"

#include <algorithm>

namespace nl::parsers::sqlite_pages {

void PageWindow::fill(std::uint32_t number, std::uint32_t following) {
  const std::uint32_t count = 1 + std::min({following, most_pages() - 1, pages_.page_count() - number});
  count_ = 0;
  if (room_ < count) {
    bytes_.reset(new Byte[std::size_t{count} * pages_.page_bytes()]);
    room_ = count;
  }
  pages_.read(number, std::size_t{count} * pages_.page_bytes(), bytes_.get());
  first_ = number;
  count_ = count;
}

}  // namespace nl::parsers::sqlite_pages
