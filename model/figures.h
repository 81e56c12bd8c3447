#pragma once

#include <string>
#include <string_view>

// How numbers are printed wherever people read them. All follow from three significant digits.
namespace nl {

std::string three_digits(double value);  // "1.23", "456", "0.0120"; an exponent only below 0.0001 and from a million on
std::string with_prefix(double value, std::string_view unit);  // in powers of ten: "1.50 GB", "48.3 TFLOP/s"
std::string short_time(double ns);                             // "4.20 ms"
std::string with_commas(std::string number);                   // "1234567.8" → "1,234,567.8"

}  // namespace nl
