#include "analysis/staging/found/steps.h"

#include "tests/unit/analysis/staging/found/made_generation.h"

using nl::analysis::Level;
using nl::analysis::Neighbourhoods;
using nl::analysis::StepCut;
using nl::analysis::WorkAmounts;
using nl::analysis::WorkSequence;

namespace {

// A thread's launches as letters, each a kernel of 20 ns; a point is a wait, and a blank a pause of the host.
class Letters {
 public:
  explicit Letters(const std::string& text) {
    for (const char letter : text)
      if (letter == '.') made_.wait();
      else if (letter == ' ') made_.now += 100;
      else made_.launch(std::string("kernel_") + letter);
    sequence_ = nl::analysis::work_sequences(made_.builder.trace).at(0);
  }
  std::vector<Level> levels() const { return find_levels(neighbourhoods()); }
  StepCut cut(std::uint32_t period) const {
    for (const Level& level : levels())
      if (level.period == period) return cut_steps(made_.builder.trace, sequence_, amounts(), neighbourhoods(), level);
    FAIL("nothing repeats every " << period);
    throw 0;
  }

 private:
  WorkAmounts amounts() const { return WorkAmounts(made_.builder.trace, sequence_); }
  Neighbourhoods neighbourhoods() const { return Neighbourhoods(sequence_, amounts()); }
  MadeGeneration made_;
  WorkSequence sequence_;
};

std::string times(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

using Places = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("about a period is a sixteenth more or less") {
  using nl::analysis::about;
  CHECK(about(32, 32));
  CHECK(about(34, 32));
  CHECK(about(30, 32));
  CHECK_FALSE(about(35, 32));
  CHECK_FALSE(about(29, 32));
  CHECK_FALSE(about(5, 4));
}

TEST_CASE("what repeats has a period, as often as its most regular place does") {
  const auto levels = Letters("x" + times(5, "abcd")).levels();
  REQUIRE(levels.size() == 1);
  CHECK(levels[0].period == 4);
  CHECK(levels[0].kinds.size() == 4);
  CHECK(levels[0].repeats == 4);  // the place of c: it has the same neighbours in all five
  CHECK(levels[0].covered_ns == 4 * 4 * 20);
  CHECK(Letters("abcdefghijkl").levels().empty());
  CHECK(Letters("abcdabcd").levels().empty());  // once again is not often
  const auto nested = Letters(times(4, "x" + times(6, "abc") + "yz")).levels();
  REQUIRE(nested.size() == 2);
  CHECK(nested[0].period == 3);
  CHECK(nested[1].period == 21);
}

TEST_CASE("steps begin after the wait that they all have, the first and the last too") {
  const StepCut cut = Letters("xyz." + times(4, "abc.")).cut(4);
  REQUIRE(cut.runs.size() == 1);
  CHECK(cut.runs[0].starts == Places{4, 8, 12, 16});
  CHECK(cut.runs[0].end == 20);
  CHECK(cut.runs[0].end_of(0) == 8);
  CHECK(cut.runs[0].end_of(3) == 20);
  CHECK(cut.steps == 4);
  CHECK(cut.regular == 1);
  CHECK(cut.after_wait == 1);
}

TEST_CASE("steps without waits are cut where their run begins and ends") {
  const StepCut cut = Letters("xyz." + times(5, "abcd") + ".uv").cut(4);
  REQUIRE(cut.runs.size() == 1);
  CHECK(cut.runs[0].starts == Places{4, 8, 12, 16, 20});
  CHECK(cut.runs[0].end == 24);
  CHECK(cut.after_wait == Approx(0.2));
  CHECK(cut.after_pause == 0);
  CHECK(Letters("xyz." + times(5, " abcd") + ".uv").cut(4).after_pause == 1);
}

TEST_CASE("other work parts one run of steps from the next") {
  const StepCut cut = Letters("xyz." + times(4, "abc.") + "uvw." + times(5, "abc.")).cut(4);
  REQUIRE(cut.runs.size() == 2);
  CHECK(cut.runs[0].starts == Places{4, 8, 12, 16});
  CHECK(cut.runs[0].end == 20);
  CHECK(cut.runs[1].starts == Places{24, 28, 32, 36, 40});
  CHECK(cut.runs[1].end == 44);
  CHECK(cut.steps == 9);
}

TEST_CASE("of two waits in a step the one with the longer pause after it is its start") {
  const StepCut late = Letters("xy." + times(6, "abc. defg.")).cut(9);
  REQUIRE(late.runs.size() == 1);
  CHECK(late.runs[0].starts.size() >= 5);
  for (std::size_t i = 0; i < late.runs[0].starts.size(); ++i) CHECK((late.runs[0].starts[i] - 3) % 9 == 4);  // at each d
  const StepCut early = Letters("xy." + times(6, "abc.defg. ")).cut(9);
  REQUIRE(early.runs.size() == 1);
  CHECK(early.runs[0].starts == Places{3, 12, 21, 30, 39, 48});
  CHECK(early.runs[0].end == 57);
  CHECK(early.after_pause > 0.8);
}
