#include "parsers/ncu/cells.h"

#include <vector>

#include "tests/catch.h"

using nl::parsers::NumberFormat;
using nl::parsers::to_base_unit;

namespace {

// How `text` reads in a file that has the other numbers too; -1: it could be either of two, -2: no number.
double read(const std::string& text, const std::vector<std::string>& others) {
  NumberFormat format;
  for (const auto& other : others) format.observe(other);
  format.observe(text);
  const auto value = format.read(text);
  if (value.kind == NumberFormat::Kind::kNumber) return value.number;
  return value.kind == NumberFormat::Kind::kUndecidable ? -1 : -2;
}

}  // namespace

TEST_CASE("numbers: one mark before three digits reads as the other numbers say") {
  CHECK(read("1.234", {}) == -1);
  CHECK(read("1,234", {}) == -1);
  CHECK(read("1.234", {"2.5"}) == 1.234);        // the point is decimal elsewhere
  CHECK(read("1.234", {"2,5"}) == 1234);         // the comma is
  CHECK(read("1,234", {"2,5"}) == 1.234);
  CHECK(read("1,234", {"2.5"}) == 1234);
  CHECK(read("1.234", {"1,234,567"}) == 1.234);  // the comma groups
  CHECK(read("1.234", {"1.234.567"}) == 1234);
  CHECK(read("1,234", {"1.234,5"}) == 1.234);
  CHECK(read("1,234", {"1,234.5"}) == 1234);
  CHECK(read("1.234", {"2.5", "2,5"}) == -1);    // the file contradicts itself
}

TEST_CASE("numbers: where blanks or apostrophes group, neither point nor comma does") {
  for (const std::string mark : {" ", "'", "\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x99"}) {
    const std::string grouped = "1" + mark + "234", twice = grouped + mark + "567";
    CHECK(read(grouped, {}) == 1234);
    CHECK(read(twice, {}) == 1234567);
    CHECK(read(grouped + ",5", {}) == 1234.5);
    CHECK(read("1.234", {grouped}) == 1.234);
    CHECK(read("1,234", {grouped + ",5"}) == 1.234);
    CHECK(read("1.234", {grouped + ",5"}) == -1);  // a comma for decimals and blanks for groups leave no room for it
    CHECK(read("1" + mark + "23", {}) == -2);
  }
}

TEST_CASE("numbers: signs, exponents, instances, and what is none") {
  CHECK(read("-1.5e+03", {}) == -1500);
  CHECK(read("+2,5E-1", {}) == 0.25);
  CHECK(read("119 (3; 4; 112)", {}) == 119);
  CHECK(read("0.123", {}) == 0.123);
  for (const std::string broken : {"1.23.456", "1,2,3", "1.234.56,7.8", "12a", "1.", "e5", "1e5x", "(3)"}) {
    INFO(broken);
    CHECK(read(broken, {}) == -2);
  }
  for (const std::string none : {"", "no data", "n/a", "nan", "-nan", "inf", "-inf"}) CHECK(NumberFormat().read(none).kind == NumberFormat::Kind::kNoData);
  NumberFormat kernel_time;
  kernel_time.observe("3,670", true);
  CHECK(kernel_time.read("1,234").number == 1234);
}

TEST_CASE("numbers: units with their prefixes, and rates per second") {
  CHECK(to_base_unit("ns") == to_base_unit("nsecond"));
  CHECK(to_base_unit("usecond") == 1e3);
  CHECK(to_base_unit("msecond") == 1e6);
  CHECK(to_base_unit("second") == 1e9);
  CHECK(to_base_unit("Kbyte") == 1e3);
  CHECK(to_base_unit("Mbyte") == 1e6);
  CHECK(to_base_unit("Gbyte/second") == 1e9);
  CHECK(to_base_unit("Tbyte/s") == 1e12);
  CHECK(to_base_unit("cycle/nsecond") == 1e9);
  CHECK(to_base_unit("cycle/usecond") == 1e6);
  CHECK(to_base_unit("GHz") == 1e9);
  CHECK(to_base_unit("%") == 1);
  CHECK(to_base_unit("%/Kbyte") == 1e3);
  CHECK_FALSE(to_base_unit("Xbyte"));
}
