#pragma once

#include <string>
#include <string_view>

#include "parsers/sqlite_pages/page_file.h"

namespace nl::parsers::sqlite_pages {

// A stored text in UTF-8, as SQLite would give it: halves of pairs that stand alone stay as they are. `kept` holds it where it is not stored so.
std::string_view utf8_of(std::string_view stored, TextEncoding encoding, std::string& kept);

}  // namespace nl::parsers::sqlite_pages
