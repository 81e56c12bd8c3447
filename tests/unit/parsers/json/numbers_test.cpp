#include "parsers/json/values.h"

#include <string>

#include "tests/catch.h"

using namespace nl;
using namespace nl::parsers;

TEST_CASE("microseconds become nanoseconds to the digit") {
  CHECK(micros_to_ns("3844436102910.259") == 3844436102910259);
  CHECK(micros_to_ns("1790857026844436.259 ") == 1790857026844436259);  // a double has lost the last digits here
  CHECK(micros_to_ns("0.001") == 1);
  CHECK(micros_to_ns("2.624") == 2624);
  CHECK(micros_to_ns("7") == 7000);
  CHECK(micros_to_ns("0") == 0);
  CHECK(micros_to_ns("-1.5") == -1500);
  CHECK(micros_to_ns("1.5e3") == 1500000);
  CHECK(micros_to_ns("1.5E+3") == 1500000);
  CHECK(micros_to_ns("1.5e-1") == 150);
}

TEST_CASE("beyond nanoseconds it is rounded") {
  CHECK(micros_to_ns("0.0004999") == 0);
  CHECK(micros_to_ns("0.0005") == 1);
  CHECK(micros_to_ns("-0.0005") == -1);
  CHECK(micros_to_ns("15e-5") == 0);
  CHECK(micros_to_ns("5e-4") == 1);
  CHECK(micros_to_ns("5e-5") == 0);
}

TEST_CASE("what is no number is none") {
  for (const char* text : {"", " ", "-", ".", "1.2.3", "NaN", "inf", "1e", "1e999", "1e-2147483648", "0x10", "\"1\"", "true", "1 2"}) {
    INFO(text);
    CHECK_FALSE(micros_to_ns(text));
  }
  CHECK_FALSE(micros_to_ns(std::string(400, '9')));
  CHECK_FALSE(micros_to_ns("99999999999999999999"));
  CHECK(micros_to_ns("0e300") == 0);
}

TEST_CASE("whole numbers, quoted or not") {
  CHECK(whole_number("12 ") == 12);
  CHECK(whole_number("\"13\"") == 13);
  CHECK(whole_number("-1") == -1);
  CHECK_FALSE(whole_number("\"Spans\""));
  CHECK_FALSE(whole_number("1.5"));
  CHECK_FALSE(whole_number("\""));
  CHECK_FALSE(whole_number(""));
  CHECK_FALSE(whole_number("99999999999999999999"));
}
