#include "runs/trial/trial.h"

#include <set>

#include "tests/catch.h"

using nl::runs::order_of_rounds, nl::runs::round_text;

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

TEST_CASE("try: a round of less than a second is told in milliseconds") {
  CHECK(round_text({3, 0.00412, 0.614, true}, 20) == "round 3 of at most 20: A 4.12 ms, B 614 ms");
  CHECK(round_text({0, 2.341, 12.3, true}, 20) == "warm-up: A 2.34 s, B 12.3 s");
}

TEST_CASE("try: what the budget ended needs more time, too") {
  nl::runs::TrialResult result;
  CHECK(nl::runs::more_runs_for(result) == nl::exporters::MoreRuns::kRounds);
  result.end = nl::runs::TrialEnd::kBudget;
  CHECK(nl::runs::more_runs_for(result) == nl::exporters::MoreRuns::kRoundsAndBudget);
}
