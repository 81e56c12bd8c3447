#include "runs/trial/trial.h"

#include <set>

#include "tests/catch.h"

using nl::runs::order_of_rounds;

TEST_CASE("try: of two rounds each side begins one, whatever chance says") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<bool> a_first = order_of_rounds(21, seed);
    REQUIRE(a_first.size() == 21);
    for (std::size_t i = 0; i + 1 < a_first.size(); i += 2) CHECK(a_first[i] != a_first[i + 1]);
  }
}

TEST_CASE("try: no rhythm is left in the order of the rounds") {
  std::set<std::vector<bool>> orders;
  for (std::uint64_t seed = 0; seed < 200; ++seed) orders.insert(order_of_rounds(8, seed));
  CHECK(orders.size() == 16);  // four times two rounds, each one way or the other
}
