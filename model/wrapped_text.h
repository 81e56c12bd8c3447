#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nl {

// Broken at blanks into lines of at most `width` places; 0: as it is. The text begins in place `begin` of its line, the lines below
// it in place `indent`. A word that is longer than a line stays whole: it may be a path to copy. Ends without a line end.
std::string wrapped(std::string_view text, std::size_t width, std::size_t begin, std::size_t indent);

}  // namespace nl
