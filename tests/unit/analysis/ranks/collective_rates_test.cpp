#include "analysis/figures/ranks/collective_rates.h"

#include "tests/catch.h"
#include "tests/unit/analysis/ranks/ranks_builder.h"

using namespace nl;
using analysis::bus_factor;
using analysis::SharedCollectives;

namespace {

// A collective whose members all say so much of it.
void sized(RanksBuilder& ranks, const std::vector<std::optional<Ns>>& arrivals, Ns end_ns, std::uint64_t bytes,
           Collective kind = Collective::kAllReduce, std::uint32_t members = 0) {
  const std::size_t before = ranks.trace.kernels.size();
  ranks.collective(arrivals, end_ns, kind == Collective::kAllReduce ? kAllReduceKernel : kSendRecvKernel);
  const auto seen = static_cast<std::uint32_t>(ranks.trace.kernels.size() - before);
  for (std::size_t i = before; i < ranks.trace.kernels.size(); ++i)
    ranks.trace.messages.push_back({static_cast<std::uint32_t>(i), members > 0 ? members : seen, bytes, kind});
}

std::vector<CollectiveRate> rates_of(const RanksBuilder& ranks) {
  return analysis::collective_rates(ranks.trace, SharedCollectives(ranks.trace));
}

}  // namespace

TEST_CASE("What links carry is counted as nccl-tests do", "[ranks]") {
  CHECK(bus_factor(Collective::kAllReduce, 2) == 1);
  CHECK(bus_factor(Collective::kAllReduce, 8) == 1.75);
  CHECK(bus_factor(Collective::kAllGather, 8) == 0.875);
  CHECK(bus_factor(Collective::kReduceScatter, 4) == 0.75);
  CHECK(bus_factor(Collective::kAllToAll, 2) == 0.5);
  CHECK(bus_factor(Collective::kSendRecv, 2) == 1);
}

TEST_CASE("The bandwidth of a collective is that of its transfer, without the wait for the last member", "[ranks]") {
  RanksBuilder ranks(4);
  sized(ranks, {1000, 1100, 9000, 1200}, 10'000, 2'500'000);
  sized(ranks, {21'000, 24'000, 23'000, 21'200}, 27'000, 3'000'000);
  const auto rates = rates_of(ranks);
  REQUIRE(rates.size() == 1);
  CHECK(rates[0].kind == Collective::kAllReduce);
  CHECK(rates[0].ranks == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(rates[0].calls == 2);
  CHECK(rates[0].bytes == 5'500'000);
  CHECK(rates[0].transfer_ns == 1000 + 3000);
  CHECK(rates[0].algorithm_bytes_per_s == 1.375e12);
  CHECK(rates[0].bus_bytes_per_s == 2.0625e12);
}

TEST_CASE("Groups, kinds and sizes have bandwidths of their own", "[ranks]") {
  RanksBuilder ranks(4);
  sized(ranks, {1000, 1000, std::nullopt, std::nullopt}, 2000, 1 << 20);
  sized(ranks, {std::nullopt, std::nullopt, 1000, 1000}, 3000, 1 << 20);
  sized(ranks, {5000, 5000, std::nullopt, std::nullopt}, 9000, 1 << 21);
  sized(ranks, {10'000, 10'000, std::nullopt, std::nullopt}, 10'500, 1 << 20, Collective::kAllToAll);
  const auto rates = rates_of(ranks);
  REQUIRE(rates.size() == 4);
  CHECK(rates[0].bytes == 1 << 21);  // the longest first
  CHECK(rates[1].ranks == std::vector<std::uint32_t>{2, 3});
  CHECK(rates[3].kind == Collective::kAllToAll);
}

TEST_CASE("A collective has no bandwidth where its size is in doubt", "[ranks]") {
  RanksBuilder ranks(2);
  ranks.collective({1000, 1000}, 2000);  // says nothing
  CHECK(rates_of(ranks).empty());
  sized(ranks, {3000, 3000}, 4000, 500, Collective::kAllReduce, 3);  // a member was not captured
  sized(ranks, {5000, 5000}, 6000, 500);
  ranks.trace.messages.back().bytes = 400;  // members disagree
  sized(ranks, {7000, 7000}, 8000, 0);
  sized(ranks, {9000, 9000}, 9900, 500, Collective::kBroadcast);  // the root leaves first
  sized(ranks, {11'000, 11'000}, 12'000, 500);
  ranks.trace.messages.pop_back();
  CHECK(rates_of(ranks).empty());
  sized(ranks, {13'000, 13'000}, 14'000, 500);
  CHECK(rates_of(ranks).size() == 1);
}

TEST_CASE("A send and its receive say which of two ranks waits", "[ranks]") {
  RanksBuilder ranks(3);
  ranks.collective({1000, 4000, std::nullopt}, 4500, kSendRecvKernel);
  ranks.collective({5500, 5000, std::nullopt}, 6000, kSendRecvKernel);
  ranks.collective({std::nullopt, 7000, 7100}, 7300, kSendRecvKernel);
  ranks.collective({8000, 8100, 8200}, 8300, kSendRecvKernel);                       // all to all
  ranks.collective({9000, 9900, std::nullopt}, 9950);                                // no send
  sized(ranks, {10'000, 15'000, std::nullopt}, 16'000, 500, Collective::kAllToAll);  // of two members, by kernels of the same name
  const auto pairs = analysis::rank_pairs(ranks.trace, SharedCollectives(ranks.trace));
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[0].first == 0);
  CHECK(pairs[0].second == 1);
  CHECK(pairs[0].calls == 2);
  CHECK(pairs[0].first_waited_ns == 3000);
  CHECK(pairs[0].second_waited_ns == 500);
  CHECK(pairs[0].transfer_ns == 1000);
  CHECK(pairs[1].first == 1);
  CHECK(pairs[1].first_waited_ns == 100);
  CHECK(pairs[1].second_waited_ns == 0);
}
