#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Texts and numbers as people read them. Names out of a capture are a program's own: they may hold anything.
namespace nl {

// Control characters, and those that reorder a line, become \u001b and the like, which JSON reads back; bytes that are not
// UTF-8 become U+FFFD. Line ends and tabs stay.
std::string visible(std::string_view text);

// The same on one line: line ends and tabs become blanks.
std::string visible_line(std::string_view text);

std::size_t columns_of(std::string_view text);  // places that it takes

// At most so many places; what is cut off leaves an ellipsis.
std::string cut_to(std::string_view text, std::size_t columns);

// Broken at blanks into lines of at most `width` places; 0: as it is. The text begins in place `begin` of its line, the lines below
// it in place `indent`. A word that is longer than a line stays whole: it may be a path to copy. Ends without a line end.
std::string wrapped(std::string_view text, std::size_t width, std::size_t begin, std::size_t indent);

// How numbers are printed wherever people read them. All follow from three significant digits.
std::string three_digits(double value);  // "1.23", "456", "0.0120"; an exponent only below 0.0001 and from a million on
std::string with_prefix(double value, std::string_view unit);  // in powers of ten: "1.50 GB", "48.3 TFLOP/s"
std::string short_time(double ns);                             // "4.20 ms"
std::string with_commas(std::string number);                   // "1234567.8" → "1,234,567.8"

}  // namespace nl
