#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Text as a terminal shows it. Names out of a capture are a program's own: they may hold anything.
namespace nl {

// Control characters, and those that reorder a line, become \u001b and the like, which JSON reads back; bytes that are no
// UTF-8 become U+FFFD. Line ends and tabs stay.
std::string visible(std::string_view text);

// The same on one line: line ends and tabs become blanks.
std::string visible_line(std::string_view text);

std::size_t columns_of(std::string_view text);  // places that it takes

// At most so many places; what is cut off leaves an ellipsis.
std::string cut_to(std::string_view text, std::size_t columns);

}  // namespace nl
