#include "runs/trial/trial.h"

#include <set>

#include "tests/catch.h"

using nl::runs::order_of_rounds;

TEST_CASE("try: which side begins a round is drawn for each, and the seed repeats it") {
  std::size_t firsts = 0, repeated = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<bool> a_first = order_of_rounds(21, seed);
    REQUIRE(a_first.size() == 21);
    CHECK(a_first == order_of_rounds(21, seed));
    for (std::size_t i = 0; i < a_first.size(); ++i) {
      firsts += a_first[i];
      repeated += i > 0 && a_first[i] == a_first[i - 1];
    }
  }
  // Of 1050 and of 1000 fair draws: five standard deviations around the half.
  CHECK(firsts > 440);
  CHECK(firsts < 610);
  CHECK(repeated > 420);
  CHECK(repeated < 580);
}

TEST_CASE("try: no rhythm is left in the order of the rounds") {
  std::set<std::vector<bool>> orders;
  for (std::uint64_t seed = 0; seed < 200; ++seed) orders.insert(order_of_rounds(8, seed));
  CHECK(orders.size() > 100);  // of 256
}
