#include "analysis/replay/interval_scale.h"

#include <cmath>

#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

namespace {

// A prediction of half the time with an interval of a fifth to each side, whose outcome needed so much of it.
PredictionPair scored(double score, double scale = 1) {
  PredictionPair pair;
  pair.predicted_ratio = 0.5;
  pair.low_ratio = 0.5 / std::pow(1.2, scale);
  pair.high_ratio = 0.5 * std::pow(1.2, scale);
  pair.measured_ratio = 0.5 * std::pow(1.2, score);
  pair.interval_scale = scale;
  return pair;
}

std::vector<PredictionPair> scored_to(int count) {
  std::vector<PredictionPair> pairs;
  for (int i = count; i >= 1; --i) pairs.push_back(scored((i % 2 == 0 ? 1 : -1) * 0.1 * i));  // shorter and longer than predicted
  return pairs;
}

}  // namespace

TEST_CASE("interval scale: the k-th smallest score, and one below nine pairs") {
  CHECK(interval_scale({}) == 1);
  CHECK(interval_scale(scored_to(8)) == 1);
  CHECK(interval_scale(scored_to(9)) == Approx(0.9));   // k = 9 of 9
  CHECK(interval_scale(scored_to(10)) == Approx(1.0));  // k = 10: 9.9 rounded up
  CHECK(interval_scale(scored_to(19)) == Approx(1.8));  // k = 18, exactly 0.9 times 20
  CHECK(interval_scale(scored_to(20)) == Approx(1.9));  // k = 19: 18.9 rounded up
  CHECK(interval_scale(scored_to(99)) == Approx(9.0));  // k = 90
  CHECK(interval_scale(scored_to(29)) == Approx(2.7));  // k = 27: where 0.9 times 30 in floating point might be more
}

TEST_CASE("interval scale: outcomes that were hit exactly leave an interval") {
  CHECK(interval_scale(std::vector<PredictionPair>(9, scored(0))) == 0.1);
}

TEST_CASE("interval scale: a pair of a scaled interval counts by its shipped one, so that scales do not feed on themselves") {
  std::vector<PredictionPair> wide, shipped;
  for (int i = 1; i <= 9; ++i) {
    wide.push_back(scored(0.3 * i, 2.7));
    shipped.push_back(scored(0.3 * i));
  }
  CHECK(interval_scale(shipped) == Approx(2.7));
  CHECK(interval_scale(wide) == Approx(2.7));
  CHECK(wide.back().within());
  CHECK_FALSE(shipped.back().within());
}

TEST_CASE("interval scale: pairs without an interval or without a time do not count") {
  std::vector<PredictionPair> pairs = scored_to(8);
  PredictionPair none = scored(0.5);
  none.low_ratio = none.high_ratio = none.predicted_ratio;
  pairs.push_back(none);
  none = scored(0.5);
  none.measured_ratio = 0;
  pairs.push_back(none);
  none = scored(0.5);
  none.interval_scale = 0;
  none.measured_ratio = none.predicted_ratio;
  none.low_ratio = none.high_ratio = none.predicted_ratio;
  pairs.push_back(none);
  CHECK(interval_scale(pairs) == 1);
}

TEST_CASE("prediction records: by hardware and by kind, with median error and coverage") {
  std::vector<PredictionPair> pairs = {scored(0.5), scored(2), scored(-0.2), scored(0.1)};
  pairs[0].kind = pairs[1].kind = "graph";
  pairs[2].kind = "host";
  for (std::size_t i = 0; i < 3; ++i) pairs[i].hardware = "NVIDIA H200";
  pairs[3].hardware = "NVIDIA A100";
  pairs[3].kind = "graph";
  const std::vector<PredictionRecord> records = prediction_records(pairs);
  REQUIRE(records.size() == 2);
  CHECK(records[0].hardware == "NVIDIA A100");
  CHECK(records[0].figures.pairs == 1);
  const PredictionRecord& h200 = records[1];
  CHECK(h200.figures.pairs == 3);
  CHECK(h200.figures.within == 2);
  CHECK(h200.figures.median_error == Approx(std::pow(1.2, 0.5) - 1));
  REQUIRE(h200.kinds.size() == 2);
  CHECK(h200.kinds[0].kind == "graph");
  CHECK(h200.kinds[0].figures.pairs == 2);
  CHECK(h200.kinds[0].figures.within == 1);
  CHECK(h200.kinds[1].figures.median_error == Approx(1 - std::pow(1.2, -0.2)));
  CHECK(h200.interval_scale == 1);
}

TEST_CASE("prediction pair: the kind of a change is its flag") {
  CHECK(kind_of_changes({"--graph decode_step"}) == "graph");
  CHECK(kind_of_changes({"--pinned"}) == "pinned");
  CHECK(kind_of_changes({"--without-wait cudaStreamSynchronize"}) == "without-wait");
  CHECK(kind_of_changes({"--graph a", "--graph b"}) == kSeveralChanges);
  CHECK(kind_of_changes({"--"}).empty());
}
