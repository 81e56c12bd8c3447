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

TEST_CASE("ranks: what they are late to in their steps is told apart from warm-up") {
  Run run;
  run.ranks = {late_rank(0, 0, 6'000'000'000), late_rank(1, 100'000, 900'000)};
  run.ranks[0].step_lateness = {180, 10, 0, 1000, 0, 0, "", ""};
  run.ranks[1].step_lateness = {180, 40, 900'000, 1000, 100'000, 800'000, "gemm", "save"};
  const std::string page = rank_page(run);
  CHECK(has(page,
            "The late one is rank 1: 100.0 % of the 900.00 µs by which ranks came after all others, at 40 of 180 collectives of the steps: "
            "its GPU "
            "waited for its program, in save."));
  CHECK(
      has(page,
          "Outside of the steps, warm-up included, ranks came 6.000 s after all others, 100.0 % of it rank 0 (in the whole capture its GPU "
          "waited for its program, in tokenize)."));
}

TEST_CASE("ranks: what is late outside of the steps is not told where it is less") {
  Run run;
  run.ranks = {late_rank(0, 0, 1'000'000), late_rank(1, 0, 900'000)};
  run.ranks[0].step_lateness = {180, 10, 0, 1000, 0, 0, "", ""};
  run.ranks[1].step_lateness = {180, 40, 1'000'000, 1000, 100'000, 900'000, "gemm", "save"};
  CHECK_FALSE(has(rank_page(run), "Outside of the steps"));
}

TEST_CASE("ranks: the matrix says who was late in which step, and whether always the same one") {
  Run run;
  run.ranks = {late_rank(0, 10'000, 0), late_rank(1, 100'000, 900'000)};
  CHECK_FALSE(has(rank_page(run), "Step"));
  run.rank_matrix = {"decode_step", 3, 1, 3, 1, 0, {0, 1}, {{10, {0, 600'000}}, {20, {10'000, 0}}, {30, {0, 400'000}}}};
  run.ranks[0].lateness.steps_latest = 1;
  run.ranks[1].lateness.steps_latest = 2;
  const std::string turns = rank_page(run);
  CHECK(has(turns, "| Step | rank 0 | rank 1 |"));
  CHECK(has(turns, "| 0 | 0 | 600.00 µs |"));
  CHECK(has(turns, "| 1 | 10.00 µs | 0 |"));
  CHECK(has(turns, "| **Sum** | 10.00 µs | 1.000 ms |"));
  CHECK(has(turns,
            "Ranks are late in turns: of 3 steps with a late rank, rank 1 is the latest in 2, more than any other; 1 time a different one "
            "follows."));
  run.rank_matrix.late_steps = 2;
  CHECK(has(rank_page(run), "Of 2 steps with a late rank, rank 1 is the latest in 2: nearly always the same one."));
  run.rank_matrix.steps = 11;
  run.rank_matrix.steps_each = 4;
  const std::string rows = rank_page(run);
  CHECK(has(rows, "in rows of 4 steps (decode_step)"));
  CHECK(has(rows, "| 8–10 | 0 | 400.00 µs |"));
  run.rank_matrix.stage.clear();
  CHECK(has(rank_page(run), "in rows of 4 collectives; no steps are known."));
}

TEST_CASE("ranks: of many, those that were late the longest have a column") {
  Run run;
  run.rank_matrix = {"decode_step", 1, 1, 1, 0, 0, {}, {{10, {}}}};
  for (std::uint32_t i = 0; i < 20; ++i) {
    run.ranks.push_back(late_rank(i, 1000, 0));
    run.rank_matrix.ranks.push_back(i);
    run.rank_matrix.rows[0].late_ns.push_back(i < 4 ? 0 : 1000 * i);
  }
  const std::string text = rank_page(run);
  CHECK(has(text, "| Step | rank 4 | rank 5 |"));
  CHECK(has(text, "Of 20 ranks the 16 that were late the longest are shown."));
}

TEST_CASE("ranks: a machine whose ranks are late is named, where no single rank is") {
  Run run;
  run.rank_matrix = {"decode_step", 1, 1, 1, 0, 0, {0, 1, 2, 3}, {{10, {0, 0, 500'000, 500'000}}}};
  for (std::uint32_t i = 0; i < 4; ++i) {
    run.ranks.push_back(late_rank(i, i < 2 ? 1000 : 500'000, 0));
    run.ranks.back().host = i < 2 ? "node0" : "node1";
  }
  CHECK(has(rank_page(run), "The late ones are on one machine: the 2 ranks of node1 have 99.8 % of the lateness."));
  run.ranks[3].lateness.late_ns = 0;
  CHECK_FALSE(has(rank_page(run), "on one machine"));
  run.ranks[3].lateness.late_ns = 500'000;
  run.ranks[0].host.clear();
  CHECK_FALSE(has(rank_page(run), "on one machine"));
}

TEST_CASE("ranks: what their GPUs did is told for each and for all") {
  Run run;
  run.ranks = {late_rank(0, 1000, 0), late_rank(1, 1000, 0)};
  CHECK_FALSE(has(rank_page(run), "Nothing runs"));
  run.rank_matrix.stage = "decode_step";
  run.ranks[0].budget = {1'000'000, 500'000, 100'000, 200'000, 50'000, 10'000};
  run.ranks[1].budget = {1'000'000, 700'000, 100'000, 0, 0, 10'000};
  const std::string text = rank_page(run);
  CHECK(has(text, "What the GPUs of each rank did in decode_step"));
  CHECK(has(text, "| rank 0 | 1.000 ms | 50.0 % | 10.0 % | 20.0 % | 5.0 % | 1.0 % | 14.0 % |"));
  CHECK(has(text, "| **All** | 2.000 ms | 60.0 % | 10.0 % | 10.0 % | 2.5 % | 1.0 % | 16.5 % |"));
}

TEST_CASE("ranks: bandwidths and pairs have a table each") {
  Run run;
  run.ranks = {late_rank(0, 1000, 0), late_rank(1, 1000, 0)};
  CHECK_FALSE(has(rank_page(run), "Bus bandwidth"));
  CHECK_FALSE(has(rank_page(run), "Lower waits"));
  const std::vector<std::uint32_t> row = {0, 1, 2, 3}, spread = {0, 8}, many = {0, 8, 16, 24, 32, 40, 48};
  run.collective_rates = {{Collective::kAllReduce, row, 4, 8'000'000, 100'000, 8e10, 1.2e11},
                          {Collective::kAllGather, spread, 1, 1000, 1000, 1e9, 5e8},
                          {Collective::kAllGather, many, 1, 1000, 1000, 1e9, 5e8}};
  run.rank_pairs = {{0, 1, 7, 3'000'000, 20'000, 400'000}};
  const std::string text = rank_page(run);
  CHECK(has(text, "| all_reduce | 0–3 | 4 | 2.00 MB | 100.00 µs | 80.0 GB/s | 120 GB/s |"));
  CHECK(has(text, "| all_gather | 0, 8 | 1 |"));
  CHECK(has(text, "| all_gather | 0, 8, 16 … 48 (7 ranks) | 1 |"));
  CHECK(has(text, "What the links could carry is not known"));
  CHECK(has(text, "| 0, 1 | 7 | 3.000 ms | 20.00 µs | 400.00 µs |"));
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
