#pragma once

#include <cstdint>
#include <vector>

#include "parsers/sqlite_pages/page_file.h"

namespace nl::parsers::sqlite_pages {

// Of the bytes of a row that lies on its leaf whole.
constexpr std::uint32_t most_on_leaf(std::uint32_t usable_bytes) { return usable_bytes - 35; }

// How many of so many bytes of a row its leaf holds; the rest is on a chain of overflow pages.
std::uint32_t bytes_on_leaf(std::uint64_t payload_bytes, std::uint32_t usable_bytes);

// Appends so many bytes from the chain of pages that begins at `first`, named by page `leaf`.
void append_chain(const PageFile& pages, std::uint32_t first, std::uint32_t leaf, std::uint64_t bytes, std::vector<Byte>& out);

}  // namespace nl::parsers::sqlite_pages
