#pragma once

#include <cstddef>
#include <vector>

#include "parsers/sqlite_pages/table_rows.h"

namespace nl::parsers::sqlite_pages {

// Up to so many ranges of about as many leaves each, all rows of a table together. Reads no leaf: the pages above say which rowids are where.
std::vector<RowRange> split_by_leaves(const PageFile& pages, const TableShape& table, std::size_t parts);

}  // namespace nl::parsers::sqlite_pages
