#include "model/visible_text.h"

#include <utility>

#include "tests/catch.h"

using namespace nl;

TEST_CASE("three digits count, wherever the point is") {
  CHECK(three_digits(0) == "0");
  CHECK(three_digits(1.234) == "1.23");
  CHECK(three_digits(-45.67) == "-45.7");
  CHECK(three_digits(456.7) == "457");
  CHECK(three_digits(0.012) == "0.0120");
  CHECK(three_digits(0.00001234) == "1.23e-05");
  CHECK(three_digits(1234567) == "1.23e+06");
}

TEST_CASE("a value that rounds up to the next digit drops a decimal") {
  CHECK(three_digits(9.994) == "9.99");
  CHECK(three_digits(9.996) == "10.0");
  CHECK(three_digits(99.94) == "99.9");
  CHECK(three_digits(99.97) == "100");
  CHECK(with_prefix(999.4, "B") == "999 B");
  CHECK(with_prefix(999.6, "B") == "1.00 kB");
  CHECK(short_time(999'600) == "1.00 ms");
}

TEST_CASE("units go by the thousand, and stop at the last") {
  CHECK(with_prefix(0, "B") == "0 B");
  CHECK(with_prefix(-1.5e9, "B") == "-1.50 GB");
  CHECK(with_prefix(4.83e13, "FLOP/s") == "48.3 TFLOP/s");
  for (const auto& [value, text] : {std::pair(2e3, "2.00 kB"), std::pair(2e6, "2.00 MB"), std::pair(2e12, "2.00 TB"),
                                    std::pair(2e15, "2.00 PB"), std::pair(2e18, "2.00 EB")})
    CHECK(with_prefix(value, "B") == text);
  CHECK(with_prefix(2e21, "B") == "2000 EB");
  CHECK(short_time(12) == "12.0 ns");
  CHECK(short_time(4'200'000) == "4.20 ms");
  CHECK(short_time(8.64e13) == "86400 s");
}

TEST_CASE("thousands are set off by commas") {
  CHECK(with_commas("999") == "999");
  CHECK(with_commas("1000") == "1,000");
  CHECK(with_commas("-123456") == "-123,456");
  CHECK(with_commas("-1234567.8901") == "-1,234,567.8901");
}

TEST_CASE("figures at the bounds of their forms") {
  CHECK(three_digits(0.0001) == "0.000100");
  CHECK(three_digits(0.00009999) == "1.00e-04");
  CHECK(three_digits(999999) == "999999");
  CHECK(three_digits(1e6) == "1.00e+06");
  CHECK(three_digits(99.95) == "100");
  CHECK(with_prefix(999.5, "B") == "1.00 kB");
  CHECK(with_prefix(1e6, "B") == "1.00 MB");
  CHECK(short_time(1500) == "1.50 µs");
  CHECK(short_time(2e9) == "2.00 s");
  CHECK(with_commas("-999") == "-999");
  CHECK(with_commas("-1000") == "-1,000");
  CHECK(with_commas("1234.5") == "1,234.5");
  CHECK(with_commas("") == "");
}
