#include "analysis/figures/overhead/decision.h"

#include <cmath>
#include <random>

#include "analysis/figures/overhead/measured.h"
#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

namespace {

using Names = std::vector<std::string>;

// Passes in turn, whose times scatter by so much from pass to pass.
class Series {
 public:
  Series(std::uint32_t seed, double overhead, double spread) : random_(seed), noise_(0, spread), overhead_(overhead) {}

  void add_until(std::size_t pairs) {
    for (; passes_.size() < 2 * pairs;)
      for (const PassKind kind : {PassKind::kUnprofiled, PassKind::kNsys})
        passes_.push_back({kind, {{"decode", 1e6 * std::exp(noise_(random_)) * (kind == PassKind::kNsys ? 1 + overhead_ : 1), 4}}, 1});
  }
  std::optional<OverheadDecision> look(const OverheadRule& rule) const {
    return decision_of(compare_passes(passes_, rule), RepeatsEnd::kMost, rule);
  }
  SlowdownVerdict verdict(const OverheadRule& rule) const { return *compare_passes(passes_, rule).stages.at(0).verdict; }

 private:
  std::mt19937 random_;
  std::normal_distribution<double> noise_;
  double overhead_;
  std::vector<PassTimes> passes_;
};

OverheadRule rule_of(const std::vector<int>& looks) { return {.limit = 0.05, .looks = looks.size(), .stages = {"decode"}}; }

// As a run does it: look after the look, until one decides.
SlowdownVerdict decided(Series series, const std::vector<int>& looks) {
  const OverheadRule rule = rule_of(looks);
  for (const int look : looks) {
    series.add_until(static_cast<std::size_t>(look));
    if (series.look(rule)->undecided.empty()) break;
  }
  return series.verdict(rule);
}

StageSlowdown row_of(const std::string& stage, double slowdown, SlowdownVerdict verdict, double bare_ns = 100) {
  return {PassKind::kNsys, stage, {bare_ns, 1.01 * bare_ns}, {bare_ns, 1.02 * bare_ns}, slowdown, 0.0, 0.2, verdict, "", ""};
}

}  // namespace

TEST_CASE("the looks begin with the repeats and end with the most") {
  CHECK(overhead_looks(3, 12) == std::vector<int>{3, 5, 8, 12});
  CHECK(overhead_looks(3, 10) == std::vector<int>{3, 5, 8, 10});
  CHECK(overhead_looks(3, 0) == std::vector<int>{3});
  CHECK(overhead_looks(1, 3) == std::vector<int>{2, 3});
  CHECK(OverheadRule{.looks = 1}.confidence() == Approx(0.95));
  CHECK(OverheadRule{.looks = 4}.confidence() == Approx(0.9875));
}

TEST_CASE("looking several times decides wrongly in 5 % at most") {
  const std::vector<int> looks = overhead_looks(3, 12);
  int decisions = 0;
  // An overhead of just the limit is the hardest: every decision is wrong by a hair. One look at 95 % four times would give 11 %.
  for (std::uint32_t seed = 0; seed < 2000; ++seed) decisions += decided(Series(seed, 0.05, 0.02), looks) != SlowdownVerdict::kUndecidable;
  CHECK(decisions <= 100);
}

TEST_CASE("most overheads away from the limit are decided, and rightly") {
  const std::vector<int> looks = overhead_looks(3, 12);
  const auto rate = [&](double overhead, SlowdownVerdict verdict) {
    int found = 0;
    for (std::uint32_t seed = 0; seed < 300; ++seed) found += decided(Series(seed, overhead, 0.01), looks) == verdict;
    return found / 300.0;
  };
  CHECK(rate(0.03, SlowdownVerdict::kUnderLimit) > 0.9);
  CHECK(rate(0.07, SlowdownVerdict::kOverLimit) > 0.9);
  CHECK(rate(0.03, SlowdownVerdict::kOverLimit) == 0);
}

TEST_CASE("the forecast of passes is about right") {
  const OverheadRule rule = rule_of({3});
  int forecasts = 0, enough = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Series series(seed, 0.07, 0.01);
    series.add_until(3);
    const auto first = series.look(rule);
    if (!first->more_passes) continue;
    ++forecasts;
    CHECK(first->passes == 3);
    series.add_until(3 + *first->more_passes);
    enough += series.look(rule)->undecided.empty();
  }
  REQUIRE(forecasts > 30);
  CHECK(2 * enough > forecasts);  // from three passes the spread is known to half of it
}

TEST_CASE("the stages that are asked about are decided, else the longest") {
  Perturbation measured;
  measured.stages = {row_of("prefill", 0.1, SlowdownVerdict::kUndecidable), row_of("decode", 0.2, SlowdownVerdict::kOverLimit),
                     row_of("request", 0.0, SlowdownVerdict::kUnderLimit, 900)};
  const auto decision_about = [&](const Names& stages) { return decision_of(measured, RepeatsEnd::kBudget, {.stages = stages}); };
  CHECK(decision_about({"prefill", "decode"})->stages == Names{"prefill", "decode"});
  CHECK(decision_about({"prefill", "decode"})->undecided == Names{"prefill"});
  CHECK(decision_about({"prefill", "decode"})->end == RepeatsEnd::kBudget);
  CHECK(decision_about({"decode"})->end == RepeatsEnd::kDecided);
  CHECK(decision_about({"elsewhere"})->stages == Names{"request"});
  CHECK(decision_about({"decode", "request"})->summary ==
        "Decided after 2 passes of each kind: tracing slows decode by more than 5 %, and request by less than 5 %");
  SECTION("ncu is not what is asked about, and what cannot be compared is not repeated") {
    for (StageSlowdown& row : measured.stages) row.profiler = PassKind::kNcu;
    CHECK_FALSE(decision_about({"decode"}));
    measured.stages = {row_of("decode", 0, SlowdownVerdict::kUndecidable)};
    measured.stages[0].slowdown.reset();
    CHECK_FALSE(decision_about({"decode"}));
  }
}

TEST_CASE("what is not decided says what would decide it") {
  const auto summary = [](StageSlowdown row, RepeatsEnd end) {
    Perturbation measured;
    measured.stages = {std::move(row)};
    return decision_of(measured, end, {.stages = {"decode"}})->summary;
  };
  CHECK(summary(row_of("decode", 0.06, SlowdownVerdict::kUndecidable), RepeatsEnd::kMost) ==
        "Not decided after 2 passes of each kind: whether tracing slows decode by more than 5 %; no more were allowed "
        "(perturbation.most_repeats), and about 10 more would probably decide it");
  CHECK(summary(row_of("decode", 0.0501, SlowdownVerdict::kUndecidable), RepeatsEnd::kBudget)
            .ends_with("more than 100 would be needed, because the passes differ by more than the slowdown is away from the limit"));
  StageSlowdown single = row_of("decode", 0.06, SlowdownVerdict::kUndecidable);
  single.bare_ns = single.profiled_ns = {100};
  CHECK(summary(single, RepeatsEnd::kFixed).ends_with("at least two of each kind are needed"));
}
