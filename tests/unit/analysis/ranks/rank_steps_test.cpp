#include "analysis/figures/ranks/rank_steps.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "analysis/figures/ranks/rank_figures.h"
#include "analysis/ranks/one_run.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/analysis/ranks/ranks_builder.h"
#include "tests/unit/unpacked.h"

using namespace nl;
using analysis::rank_figures;
using analysis::RankFigures;
using analysis::StagedTrace;
using analysis::WarmupRule;

namespace {

Ns sum_of(const RankMatrix& matrix, std::size_t column) {
  return std::accumulate(matrix.rows.begin(), matrix.rows.end(), Ns{0},
                         [&](Ns sum, const MatrixRow& row) { return sum + row.late_ns[column]; });
}

}  // namespace

TEST_CASE("Each step says how late each rank was in it", "[ranks]") {
  RanksBuilder ranks(3);
  ranks.step(1000, 1, 30);
  ranks.step(2000, 1, 20);
  ranks.step(3000, 0, 0);
  ranks.step(4000, 2, 50);
  const RankFigures figures = ranks.figures();
  const RankMatrix& matrix = figures.matrix;
  CHECK(matrix.stage == "decode_step");
  CHECK(matrix.steps == 4);
  CHECK(matrix.steps_each == 1);
  CHECK(matrix.outside == 0);
  CHECK(matrix.late_steps == 3);
  CHECK(matrix.changes == 1);  // from rank 1 to rank 2; the step without a late rank says nothing
  CHECK(matrix.ranks == std::vector<std::uint32_t>{0, 1, 2});
  REQUIRE(matrix.rows.size() == 4);
  CHECK(matrix.rows[0].late_ns == std::vector<Ns>{0, 30, 0});
  CHECK(matrix.rows[1].late_ns == std::vector<Ns>{0, 20, 0});
  CHECK(matrix.rows[2].late_ns == std::vector<Ns>{0, 0, 0});
  CHECK(matrix.rows[3].late_ns == std::vector<Ns>{0, 0, 50});
  CHECK(matrix.rows[0].start_ns == 1010);
  CHECK(figures.ranks[1].lateness.steps_latest == 2);
  CHECK(figures.ranks[2].lateness.steps_latest == 1);
  CHECK(figures.ranks[0].lateness.steps_latest == 0);
}

TEST_CASE("Many steps share the rows of the matrix, and none is lost", "[ranks]") {
  RanksBuilder ranks(2);
  for (Ns i = 0; i < 100; ++i) ranks.step(1000 * (i + 1), i % 3 == 0 ? 1 : 0, 1 + i % 7);
  const RankFigures figures = ranks.figures();
  const RankMatrix& matrix = figures.matrix;
  CHECK(matrix.steps == 100);
  CHECK(matrix.steps_each == 4);
  CHECK(matrix.rows.size() == 25);
  CHECK(matrix.rows[1].start_ns == 5010);
  for (std::size_t rank = 0; rank < 2; ++rank) CHECK(sum_of(matrix, rank) == figures.ranks[rank].lateness.late_ns);
  CHECK(figures.ranks[0].lateness.steps_latest == 66);
  CHECK(figures.ranks[1].lateness.steps_latest == 34);
  CHECK(matrix.changes == 66);  // two for each third step, none before the first
}

TEST_CASE("Of many ranks the matrix has those that were late the longest", "[ranks]") {
  RanksBuilder ranks(kMaxMatrixRanks + 6);
  for (std::uint32_t rank = 0; rank < kMaxMatrixRanks + 6; ++rank) ranks.step(1000 * (rank + 1), rank, 1 + rank % 70);
  const RankMatrix matrix = ranks.figures().matrix;
  REQUIRE(matrix.ranks.size() == kMaxMatrixRanks);
  CHECK(matrix.ranks.front() == 6);  // 0 to 5 were late for 1 to 6
  CHECK(matrix.ranks.back() == kMaxMatrixRanks + 5);
  for (const MatrixRow& row : matrix.rows) CHECK(row.late_ns.size() == kMaxMatrixRanks);
}

TEST_CASE("A rank whose capture begins later has its windows in the steps of the others", "[ranks]") {
  RanksBuilder ranks(2);
  for (Ns at : {1000, 2000, 3000}) ranks.stage("decode_step", at, at + 100, 0);
  for (Ns at : {4000, 5000, 6000}) ranks.step(at, 1, at / 100);
  const RankMatrix matrix = ranks.figures().matrix;
  CHECK(matrix.steps == 3);
  REQUIRE(matrix.rows.size() == 3);
  CHECK(matrix.rows[0].late_ns == std::vector<Ns>{0, 40});
  CHECK(matrix.rows[2].late_ns == std::vector<Ns>{0, 60});
}

TEST_CASE("Groups that share no rank have their steps side by side", "[ranks]") {
  RanksBuilder ranks(4);
  for (Ns at : {1000, 2000}) {
    for (std::uint32_t rank = 0; rank < 4; ++rank) ranks.stage("decode_step", at, at + 100, rank);
    ranks.collective({at + 10, at + 15, std::nullopt, std::nullopt}, at + 50);
    ranks.collective({std::nullopt, std::nullopt, at + 17, at + 10}, at + 50);
  }
  const RankMatrix matrix = ranks.figures().matrix;
  CHECK(matrix.steps == 2);
  for (const MatrixRow& row : matrix.rows) CHECK(row.late_ns == std::vector<Ns>{0, 5, 7, 0});
}

TEST_CASE("Warm-up and what is launched between steps is in no step", "[ranks]") {
  RanksBuilder ranks(2);
  ranks.step(1000, 0, 40);
  ranks.step(2000, 1, 10);
  ranks.collective({2200, 2250}, 2300);
  WarmupRule first;
  first.mode = WarmupRule::Mode::kCount;
  first.count = 1;
  RanksBuilder iterations(2);
  for (Ns at : {1000, 3000}) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) iterations.stage("prefill", at - 500, at - 100, rank);
    iterations.step(at, 1, at / 100);
  }
  const RankFigures figures = ranks.figures();
  CHECK(figures.matrix.outside == 1);
  CHECK(figures.matrix.steps == 2);
  CHECK(figures.ranks[1].lateness.late_ns == 60);
  CHECK(figures.ranks[1].lateness.collectives == 3);
  REQUIRE(figures.ranks[1].step_lateness);
  CHECK(figures.ranks[1].step_lateness->late_ns == 10);
  CHECK(figures.ranks[1].step_lateness->collectives == 2);
  const RankMatrix matrix = iterations.figures("decode_step", first).matrix;
  CHECK(matrix.outside == 1);
  REQUIRE(matrix.rows.size() == 1);
  CHECK(matrix.rows[0].late_ns == std::vector<Ns>{0, 30});
}

TEST_CASE("Where no steps are known each collective is one", "[ranks]") {
  RanksBuilder ranks(2);
  ranks.collective({500, 530}, 600);
  ranks.collective({120, 100}, 200);
  const RankFigures figures = ranks.figures("");
  CHECK(figures.matrix.stage.empty());
  CHECK(figures.matrix.steps == 2);
  REQUIRE(figures.matrix.rows.size() == 2);
  CHECK(figures.matrix.rows[0].late_ns == std::vector<Ns>{20, 0});  // by time
  CHECK(figures.matrix.rows[1].late_ns == std::vector<Ns>{0, 30});
  CHECK(figures.ranks[0].budget.wall_ns == 500);  // from the first work to the last
  CHECK(figures.ranks[1].budget.wall_ns == 500);
}

TEST_CASE("The budget of a rank has each instant of its steps in one part", "[ranks]") {
  RanksBuilder ranks(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) ranks.stage("decode_step", 1000, 2000, rank);
  // Rank 0 comes at 1100, rank 1 at 1400; both leave at 1500. A kernel of rank 0 hides a part of its waiting and of the exchange.
  ranks.collective({1100, 1400}, 1500);
  ranks.kernel("gemm", 1300, 150, ranks.call(1090, 0), 0);
  // Of the send, rank 1 comes first; after that rank 0 copies, half of it in the window.
  ranks.collective({1700, 1600}, 1750, kSendRecvKernel);
  ranks.copy(MemOpKind::kDeviceToHost, 1950, 2050, ranks.call(1940, 0), 0);
  const RankFigures figures = ranks.figures();
  const RankBudget &first = figures.ranks[0].budget, &second = figures.ranks[1].budget;
  CHECK(first.wall_ns == 1000);
  CHECK(first.compute_ns == 150);
  CHECK(first.wait_ns == 200);          // 1100 to 1300
  CHECK(first.exchange_ns == 50 + 50);  // 1450 to 1500, 1700 to 1750
  CHECK(first.receive_wait_ns == 0);
  CHECK(first.copy_ns == 50);
  CHECK(first.idle_ns() == 1000 - 150 - 200 - 100 - 50);
  CHECK(second.wait_ns == 0);
  CHECK(second.exchange_ns == 100 + 50);
  CHECK(second.receive_wait_ns == 100);
  CHECK(second.idle_ns() == 750);
}

TEST_CASE("The matrix of made captures is what another method finds", "[ranks]") {
  const std::string folder = NL_FIXTURES "/ranks/made/";
  std::vector<analysis::ranks::RankCapture> captures;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const Unpacked unpacked(folder + "rank" + std::to_string(rank) + ".sqlite.gz");
    captures.push_back({parsers::read_nsys_sqlite(unpacked.file), rank, RankSource::kEnvironment, "rank"});
  }
  std::ifstream stream(folder + "expected.json");
  const auto oracle = nlohmann::json::parse(stream)["collectives"];
  const Trace trace = analysis::ranks::one_run(std::move(captures));
  const RankMatrix matrix = rank_figures(StagedTrace(trace, kEveryStep), "decode_step").matrix;
  // Three requests of a prompt and eight steps, each with four all-reduces and an all-gather.
  REQUIRE(matrix.rows.size() == 24);
  CHECK(matrix.outside == 15);
  for (std::size_t step = 0; step < 24; ++step) {
    INFO("step " << step);
    std::vector<Ns> late_ns(4);
    for (std::size_t i = 0; i < 5; ++i) {
      const auto& collective = oracle[(step / 8 * 9 + 1 + step % 8) * 5 + i];
      late_ns[collective["last"].get<std::size_t>()] += collective["after_second_last_ns"].get<Ns>();
    }
    // The oracle also counts a last one that is as near to the others as the clocks may be off: at most 20 us in each of five collectives.
    for (std::size_t rank = 0; rank < 4; ++rank) CHECK(std::abs(matrix.rows[step].late_ns[rank] - late_ns[rank]) < 100'000);
    CHECK(matrix.rows[step].late_ns[2] > 400'000);
  }
}
