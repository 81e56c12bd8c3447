#include "parsers/nsys/correlation.h"

#include <map>
#include <random>

#include "tests/catch.h"

using namespace nl;
using namespace nl::parsers;

TEST_CASE("correlations are found as in an ordinary map, dense or sparse") {
  std::mt19937 random(7);
  for (std::uint32_t spread : {1u, 3u, 64u, 1000u, 70000u}) {
    INFO(spread);
    CorrelationMap map;
    std::map<std::uint32_t, std::uint32_t> expected;
    for (std::uint32_t i = 0; i < 20000; ++i) expected.emplace(random() % (20000 * spread) + i % 3, i);
    for (auto [correlation, call] : expected) map.insert(correlation);
    map.insert(kNone);
    map.seal();
    for (auto [correlation, call] : expected) REQUIRE(map.set(correlation, call));
    for (auto [correlation, call] : expected) {
      REQUIRE(map.contains(correlation));
      REQUIRE(map.call_of(correlation) == call);
      REQUIRE(map.contains(correlation + 1) == expected.contains(correlation + 1));
    }
    CHECK(map.call_of(kNone) == kNone);
  }
}

TEST_CASE("the first call with a correlation id keeps it") {
  CorrelationMap map;
  map.insert(5);
  map.insert(4294967294u);
  map.seal();
  CHECK(map.set(5, 1));
  CHECK(!map.set(5, 2));
  CHECK(map.call_of(5) == 1);
  CHECK(map.set(6, 3));  // launched nothing: passed over
  CHECK(map.call_of(6) == kNone);
  CHECK(map.call_of(4294967294u) == kNone);
}
