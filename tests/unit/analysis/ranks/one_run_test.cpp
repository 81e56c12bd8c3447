#include "analysis/ranks/one_run.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/analyse.h"
#include "analysis/figures/ranks/rank_figures.h"
#include "analysis/ranks/shards.h"
#include "model/error.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/unpacked.h"

using namespace nl;
using analysis::ranks::one_run;
using analysis::ranks::RankCapture;

namespace {

const std::string kMade = NL_FIXTURES "/ranks/made/";

std::vector<RankCapture> made_captures() {
  std::vector<RankCapture> captures;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const std::string name = "rank" + std::to_string(rank) + ".sqlite";
    const Unpacked unpacked(kMade + name + ".gz");
    captures.push_back({parsers::read_nsys_sqlite(unpacked.file), rank, RankSource::kEnvironment, name});
  }
  return captures;
}

std::vector<RankEntry> late_ranks(const Trace& trace) {
  return analysis::rank_figures(analysis::StagedTrace(trace, {}), "decode_step").ranks;
}

nlohmann::json expected() {
  std::ifstream stream(kMade + "expected.json");
  return nlohmann::json::parse(stream);
}

}  // namespace

TEST_CASE("The clocks of ranks are those that another method finds", "[ranks]") {
  const Trace trace = one_run(made_captures());
  const auto oracle = expected();
  REQUIRE(trace.ranks.size() == 4);
  CHECK(trace.ranks[0].clock == RankClock::kReference);
  for (std::size_t i = 1; i < 4; ++i) {
    INFO("rank " << i);
    const RankEntry& rank = trace.ranks[i];
    const auto& clock = oracle["ranks"][i]["clock"];
    REQUIRE(rank.clock == RankClock::kCollectives);
    CHECK(rank.collectives == clock["pairs"].get<std::uint64_t>());
    // Two estimates from the same 135 ends, whose scatter is 5 us: each is off by less than sigma ÷ sqrt(135) × 2 = 1 us at the middle.
    const double drift_error = clock["drift_error_ppm"].get<double>();
    CHECK(std::abs(rank.drift_ppm - clock["drift_ppm"].get<double>()) < 3 * drift_error);
    // Of the ends within three sigma here, of all there.
    REQUIRE(rank.drift_error_ppm);
    CHECK(*rank.drift_error_ppm / drift_error > 0.5);
    CHECK(*rank.drift_error_ppm / drift_error < 1.5);
    REQUIRE(rank.residual_ns);
    CHECK(*rank.residual_ns / clock["sigma_ns"].get<double>() > 0.5);  // by the median there, by the squares here
    CHECK(*rank.residual_ns / clock["sigma_ns"].get<double>() < 1.5);
    CHECK(rank.residual_max_ns >= rank.residual_ns);
    CHECK(rank.host == "node0");
  }
}

TEST_CASE("Who was last to each collective is what another method finds", "[ranks]") {
  const Trace trace = one_run(made_captures());
  const auto oracle = expected();
  CHECK(trace.collectives.size() == 4 * oracle["collectives"].size());
  const std::vector<RankEntry> ranks = late_ranks(trace);
  std::uint64_t claimed = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    INFO("rank " << i);
    const auto& sums = oracle["sums"][i];
    CHECK(ranks[i].lateness.collectives == sums["collectives"].get<std::uint64_t>());
    // The oracle claims a last one of any collective; its clocks are 1 us apart from these, so that a few may be on the other side.
    CHECK(ranks[i].lateness.last <= sums["last"].get<std::uint64_t>() + 3);
    claimed += ranks[i].lateness.last;
  }
  CHECK(claimed > 20);
  // Rank 2 was made 0.7 ms late in each of 24 steps by a longer kernel, rank 1 0.4 ms in every fourth by its program.
  const RankLateness &two = ranks[2].lateness, &one = ranks[1].lateness;
  CHECK(two.last >= 24);
  CHECK(two.computing_ns > two.late_ns * 9 / 10);
  CHECK(two.slowest_kernel.find("nvjet") != std::string::npos);
  CHECK(std::abs(static_cast<double>(two.late_ns) / oracle["sums"][2]["after_second_last_ns"].get<double>() - 1) < 0.05);
  CHECK(one.host_ns > one.late_ns * 8 / 10);
  CHECK(one.slowest_range == "prepare_inputs");
}

TEST_CASE("A joined trace has all that its captures have", "[ranks]") {
  std::size_t kernels = 0, calls = 0, ranges = 0, copies = 0;
  Ns first_kernels_ns = 0;
  for (const RankCapture& capture : made_captures()) {
    kernels += capture.trace.kernels.size();
    calls += capture.trace.api_calls.size();
    ranges += capture.trace.ranges.size();
    copies += capture.trace.mem_ops.size();
    if (capture.rank == 0)
      for (const Kernel& kernel : capture.trace.kernels) first_kernels_ns += static_cast<Ns>(kernel.duration_ns);
  }
  const Trace trace = one_run(made_captures());
  CHECK(trace.kernels.size() == kernels);
  CHECK(trace.api_calls.size() == calls);
  CHECK(trace.ranges.size() == ranges);
  CHECK(trace.mem_ops.size() == copies);
  std::set<std::uint32_t> pids;
  std::set<std::int32_t> devices;
  Ns joined_ns = 0;
  for (const Process& process : trace.processes) CHECK(pids.insert(process.pid).second);
  for (const Queue& queue : trace.queues) devices.insert(queue.device);
  CHECK(devices.size() == 4);
  for (const Kernel& kernel : trace.kernels) {
    CHECK(kernel.start_ns >= 0);
    const Queue& queue = trace.queues[kernel.queue];
    if (trace.processes[queue.process].rank == 0u) joined_ns += static_cast<Ns>(kernel.duration_ns);
    // What launched it is of its process, and comes before it.
    if (kernel.api == kNone) continue;
    const ApiCall& call = trace.api_calls[kernel.api];
    CHECK(trace.threads[call.thread].process == queue.process);
    CHECK(call.start_ns <= kernel.start_ns);
  }
  CHECK(joined_ns == first_kernels_ns);  // the first rank's clock is the run's
}

TEST_CASE("Captures that were made after each other are not joined", "[ranks]") {
  auto captures = made_captures();
  *captures[3].trace.utc_start_ns += 3'600'000'000'000;
  CHECK_THROWS_AS(one_run(std::move(captures)), Error);
}

TEST_CASE("A rank without collectives is left out of what ranks have together", "[ranks]") {
  auto captures = made_captures();
  Trace& alone = captures[3].trace;
  for (KernelShape& shape : alone.shapes) shape.name = alone.strings.intern("gemm");
  const Trace trace = one_run(std::move(captures));
  CHECK(trace.ranks[3].clock == RankClock::kWallClock);
  CHECK(find_first(trace.stats.notes, {Code::kRankNotCounted}) != nullptr);
  const auto ranks = late_ranks(trace);
  CHECK(ranks[3].lateness.collectives == 0);
  CHECK(ranks[2].lateness.collectives == 135);
}

TEST_CASE("The ranks of one capture are told as those of several", "[ranks]") {
  Trace trace = one_run(made_captures());
  const std::vector<RankEntry> apart = late_ranks(trace);
  trace.ranks.clear();
  trace.collectives.clear();
  for (Process& process : trace.processes) process.rank.reset();
  analysis::ranks::tell_ranks(trace);
  const std::vector<RankEntry> ranks = late_ranks(trace);
  REQUIRE(ranks.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(ranks[i].clock == RankClock::kMachine);
    CHECK_FALSE(number_known(ranks[i]));
    CHECK(ranks[i].pids == apart[i].pids);
    CHECK(ranks[i].lateness.collectives == 135);
    CHECK(ranks[i].lateness.waited_ns == apart[i].lateness.waited_ns);
    CHECK(ranks[i].lateness.last >= apart[i].lateness.last);  // one clock: any difference counts
  }
  CHECK(ranks[2].lateness.slowest_kernel == apart[2].lateness.slowest_kernel);
  const std::vector<bool> shards = analysis::ranks::shards_of_others(trace, 24);
  CHECK(shards == std::vector<bool>{false, true, true, true});
  CHECK(analysis::ranks::shards_of_others(trace, 1000) == std::vector<bool>(4, false));  // too few for so many steps
}

TEST_CASE("The ranks of one capture have the numbers that a launcher told them", "[ranks]") {
  Trace trace = one_run(made_captures());
  trace.ranks.clear();
  trace.collectives.clear();
  for (Process& process : trace.processes) process.rank = 3 - *process.rank;
  trace.processes.push_back({99'999, "launcher"});
  trace.processes.push_back({88'888, "loader", 2});  // of the data of a rank, and told what its parent was
  analysis::ranks::tell_ranks(trace);
  REQUIRE(trace.ranks.size() == 4);
  for (const RankEntry& rank : trace.ranks) {
    CHECK(rank.source == RankSource::kEnvironment);
    CHECK(number_known(rank));
    CHECK(trace.processes[3 - rank.rank].rank == rank.rank);
    CHECK(rank.pids.size() == (rank.rank == 2 ? 2 : 1));
  }
}

TEST_CASE("Two processes that exchange data are not one rank, whatever they were told", "[ranks]") {
  Trace trace = one_run(made_captures());
  trace.ranks.clear();
  trace.collectives.clear();
  for (Process& process : trace.processes) process.rank = 0;
  trace.processes.push_back({88'888, "loader", 0});
  analysis::ranks::tell_ranks(trace);
  REQUIRE(trace.ranks.size() == 4);
  CHECK(trace.ranks[3].source == RankSource::kOrder);
  CHECK_FALSE(trace.processes.back().rank);
}

TEST_CASE("Captures of one machine have its clock where collectives tell nothing", "[ranks]") {
  auto captures = made_captures();
  for (RankCapture& capture : captures) {
    Trace& trace = capture.trace;
    for (KernelShape& shape : trace.shapes) shape.name = trace.strings.intern("gemm");
    trace.rank.host = "node0";
    trace.monotonic_start_ns = 5'000 + capture.rank * 1'000;
    trace.utc_start_ns = 1'700'000'000'000'005'000 + capture.rank * 1'000'000;  // a clock of the day that is being set
  }
  captures[3].trace.rank.host = "node1";
  const std::size_t first_kernels = captures[0].trace.kernels.size();
  const Ns first_ns = captures[0].trace.kernels.front().start_ns, second_ns = captures[1].trace.kernels.front().start_ns;
  const Trace trace = one_run(std::move(captures));
  CHECK(trace.ranks[1].clock == RankClock::kMachine);
  CHECK(trace.ranks[2].clock == RankClock::kMachine);
  CHECK(trace.ranks[3].clock == RankClock::kWallClock);
  CHECK(trace.kernels[first_kernels].start_ns - trace.kernels[0].start_ns == second_ns + 1'000 - first_ns);
  CHECK(find_first(trace.stats.notes, {Code::kRankNotCounted}) == nullptr);  // none of them has any
}

TEST_CASE("Processes that have nothing together, and no numbers, are no ranks", "[ranks]") {
  Trace trace = one_run(made_captures());
  trace.ranks.clear();
  for (Process& process : trace.processes) process.rank.reset();
  trace.collectives.clear();
  for (KernelShape& shape : trace.shapes) shape.name = trace.strings.intern("gemm");
  analysis::ranks::tell_ranks(trace);
  CHECK(trace.ranks.empty());
  CHECK(trace.collectives.empty());
}
