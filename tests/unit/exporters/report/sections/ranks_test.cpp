#include <string>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/markdown.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl;
using nl::test::has;

namespace {

std::string rank_page(const Run& run) { return exporters::markdown({"T", "", {}, exporters::report::ranks(run)}); }

RankEntry late_rank(std::uint32_t number, Ns computing_ns, Ns host_ns) {
  RankEntry rank;
  rank.rank = number;
  rank.source = RankSource::kEnvironment;
  rank.file = "rank.sqlite";
  rank.pids = {100 + number};
  rank.clock = number == 0 ? RankClock::kReference : RankClock::kCollectives;
  if (number > 0) rank.residual_ns = 4000;
  rank.lateness = {200, 50, computing_ns + host_ns, 1000, computing_ns, host_ns, "gemm", "tokenize"};
  return rank;
}

}  // namespace

TEST_CASE("ranks: the late one is named, with what made it late") {
  Run run;
  CHECK(exporters::report::ranks(run).empty());
  run.ranks = {late_rank(0, 10'000, 0), late_rank(1, 100'000, 900'000), late_rank(2, 20'000, 10'000)};
  const std::string host = rank_page(run);
  CHECK(has(host,
            "The late one is rank 1: 96.2 % of the 1.040 ms by which ranks came after all others, at 50 of 200 collectives: its GPU "
            "waited for its program, in tokenize."));
  CHECK(has(host, "comparable to about 4.00 µs (1 sigma)"));
  run.ranks[1] = late_rank(1, 900'000, 100'000);
  CHECK(has(rank_page(run), "its GPU computed longer, gemm most of all."));
  run.ranks[0] = late_rank(0, 800'000, 0);
  CHECK(has(rank_page(run), "Now one rank is late, now another: rank 1 has the most of it, 54.6 % of 1.830 ms."));
}

TEST_CASE("ranks of one capture are called by their processes, and have one clock") {
  Run run;
  run.ranks = {late_rank(0, 0, 0), late_rank(1, 1'000'000, 0)};
  for (RankEntry& rank : run.ranks) {
    rank.source = RankSource::kOrder;
    rank.file.clear();
    rank.clock = RankClock::kMachine;
    rank.residual_ns.reset();
  }
  const std::string text = rank_page(run);
  CHECK(has(text, "The late one is process 101"));
  CHECK(has(text, "recorded by one clock"));
  CHECK_FALSE(has(text, "Drift"));
  CHECK(gpu_name(run.ranks, 3, 101) == "GPU 3 (process 101)");
  run.ranks[1].source = RankSource::kEnvironment;
  CHECK(gpu_name(run.ranks, 3, 101) == "GPU 3 (rank 1, process 101)");
  CHECK(gpu_name(run.ranks, 3, 999) == "GPU 3 (process 999)");
  CHECK(gpu_name(run.ranks, 3, 0) == "GPU 3");
}
