#include <functional>

#include "tests/catch.h"
#include "tests/unit/analysis/ranks/ranks_builder.h"

using namespace nl;

namespace {

constexpr const char* kExperts = "fused_moe_kernel";
constexpr const char* kRouter = "nvjet_tst_64x8_router";

using PerRank = std::vector<Ns>;

// Four ranks, each layer as engines have it: the router and attention, an all-to-all, the experts, an all-to-all.
struct ExpertRanks : RanksBuilder {
  ExpertRanks() : RanksBuilder(4) {}

  void compute(const char* name, const PerRank& times) {
    for (std::uint32_t rank = 0; rank < times.size(); ++rank) {
      if (times[rank] > 0) kernel(name, at_ns[rank], static_cast<std::uint64_t>(times[rank]), call(at_ns[rank] - 5, rank), 2 * rank);
      at_ns[rank] += times[rank];
    }
  }
  void exchange(const char* name = kSendRecvKernel) {
    std::vector<std::optional<Ns>> arrivals;
    Ns end_ns = 0;
    for (Ns& each : at_ns) {
      arrivals.emplace_back(each += 10);
      end_ns = std::max(end_ns, each + 100);
    }
    collective(arrivals, end_ns, name);
    for (Ns& each : at_ns) each = end_ns + 10;
  }
  void layer(const PerRank& experts, const PerRank& other = {1000, 1000, 1000, 1000}, const char* name = kExperts) {
    compute(kRouter, other);
    exchange();
    compute(name, experts);
    exchange();
  }
  void steps(int count, const std::function<void()>& make) {
    for (int i = 0; i < count; ++i) {
      const Ns from_ns = at_ns[0];
      make();
      for (std::uint32_t rank = 0; rank < at_ns.size(); ++rank) stage("decode_step", from_ns, at_ns[0], rank);
      for (Ns& each : at_ns) each += 50;
    }
  }
  std::vector<ExpertLoad> loads() const { return figures().experts; }

  PerRank at_ns = {1000, 1000, 1000, 1000};
};

}  // namespace

TEST_CASE("Experts of a rank that have more tokens are told, with their kernel", "[ranks]") {
  ExpertRanks ranks;
  ranks.steps(10, [&] { ranks.layer({1000, 1000, 2000, 1000}), ranks.layer({1000, 1000, 2000, 1000}); });
  const auto loads = ranks.loads();
  REQUIRE(loads.size() == 1);
  const ExpertLoad& load = loads[0];
  CHECK(load.ranks == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(load.rounds == 20);
  CHECK(load.mean_ns == 20 * 1250);
  CHECK(load.excess_ns() == 20 * 750);
  CHECK(load.busiest == 2);
  CHECK(load.busiest_ns == 20 * 2000);
  CHECK(load.busiest_rounds == 20);
  CHECK(load.kernel == kExperts);
}

TEST_CASE("Other experts that are busy at each exchange cost as much, and no rank is the one", "[ranks]") {
  ExpertRanks ranks;
  int turn = 0;
  ranks.steps(8, [&] {
    PerRank times(4, 1000);
    times[static_cast<std::size_t>(turn++ % 4)] = 2000;
    ranks.layer(times);
  });
  const auto loads = ranks.loads();
  REQUIRE(loads.size() == 1);
  CHECK(loads[0].excess_ns() == 8 * 750);
  CHECK(loads[0].busiest_rounds == 2);
}

TEST_CASE("A GPU that is slower at all that it does has no busier experts", "[ranks]") {
  ExpertRanks slow;
  slow.steps(10, [&] { slow.layer({1000, 1000, 1500, 1000}, {1000, 1000, 1500, 1000}); });
  const auto loads = slow.loads();
  REQUIRE(loads.size() == 1);
  CHECK(loads[0].excess_ns() < 10 * 10);
  // Slower by as much, and with twice the tokens besides.
  ExpertRanks both;
  both.steps(10, [&] { both.layer({1000, 1000, 3000, 1000}, {1000, 1000, 1500, 1000}); });
  CHECK(both.loads().at(0).excess_ns() > 10 * 600);
}

TEST_CASE("Sequences that are uneven outside of the experts make no expert look busy", "[ranks]") {
  ExpertRanks ranks;
  ranks.steps(10, [&] { ranks.layer({1000, 1000, 1000, 1000}, {1000, 1000, 1600, 1000}); });
  CHECK(ranks.loads().at(0).excess_ns() == 0);
}

TEST_CASE("Experts with as many tokens each have no excess", "[ranks]") {
  ExpertRanks ranks;
  ranks.steps(10, [&] { ranks.layer({1000, 1000, 1000, 1000}); });
  REQUIRE(ranks.loads().size() == 1);
  CHECK(ranks.loads()[0].excess_ns() == 0);
}

TEST_CASE("Nothing is said of experts where a witness is missing", "[ranks]") {
  ExpertRanks unnamed;  // by its name any product
  unnamed.steps(10, [&] { unnamed.layer({1000, 1000, 2000, 1000}, {1000, 1000, 1000, 1000}, "nvjet_tst_192x192"); });
  CHECK(unnamed.loads().empty());
  ExpertRanks reduced;  // tensor parallel experts
  reduced.steps(10, [&] {
    reduced.compute(kRouter, {1000, 1000, 1000, 1000});
    reduced.exchange(kAllReduceKernel);
    reduced.compute(kExperts, {1000, 1000, 2000, 1000});
    reduced.exchange(kAllReduceKernel);
  });
  CHECK(reduced.loads().empty());
  ExpertRanks alone;  // nothing else tells how fast the GPUs are
  alone.steps(10, [&] { alone.exchange(), alone.compute(kExperts, {1000, 1000, 2000, 1000}), alone.exchange(); });
  CHECK(alone.loads().empty());
}

TEST_CASE("Steps of warm-up do not count for experts", "[ranks]") {
  ExpertRanks ranks;
  const auto iteration = [&](const PerRank& experts) {
    const Ns at_ns = ranks.at_ns[0];
    for (std::uint32_t rank = 0; rank < 4; ++rank) ranks.stage("prefill", at_ns, at_ns + 20, rank);
    for (Ns& each : ranks.at_ns) each += 40;
    ranks.steps(1, [&] { ranks.layer(experts); });
  };
  iteration({1000, 1000, 90'000, 1000});
  for (int i = 0; i < 9; ++i) iteration({1000, 1000, 1000, 1000});
  const analysis::WarmupRule first{analysis::WarmupRule::Mode::kCount, 1};
  const auto loads = ranks.figures("decode_step", first).experts;
  REQUIRE(loads.size() == 1);
  CHECK(loads[0].rounds == 9);
  CHECK(loads[0].excess_ns() == 0);
}
