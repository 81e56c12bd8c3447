#include "analysis/collectives/speeds.h"

#include "tests/catch.h"

using namespace nl;
using nl::analysis::collectives::collective_speeds;

namespace {

TimedCalls series(std::uint32_t rank, const std::vector<double>& times, std::uint64_t size = 1024, const std::string& kind = "AllReduce") {
  TimedCalls out{"0x1", "tp", rank, 2, 1, "h", 7, kind, false, size, TimingSource::kGpuKernel, {}};
  for (std::size_t i = 0; i < times.size(); ++i) out.calls.push_back({i, times[i], 1, 2});
  return out;
}

InspectorFile file_of(const std::vector<TimedCalls>& all) { return {"f", all, 0}; }

}  // namespace

TEST_CASE("speeds: medians by rank, and who had the shortest time of each call") {
  const std::vector<InspectorFile> files = {file_of({series(0, {300, 310, 50, 320})}), file_of({series(1, {100, 110, 120, 320})})};
  const auto speeds = collective_speeds(files);
  REQUIRE(speeds.table.size() == 1);
  const CollectiveSpeed& row = speeds.table[0];
  CHECK(row.calls_of_all == 4);
  REQUIRE(row.by_rank.size() == 2);
  CHECK(row.by_rank[0].median_us == 305);
  CHECK(row.by_rank[1].median_us == 115);
  CHECK(row.by_rank[0].shortest == 1);
  CHECK(row.by_rank[1].shortest == 2);  // of the last neither
  CHECK(row.by_rank[0].least_us == 50);
  CHECK(row.by_rank[0].most_us == 320);
  CHECK(row.by_rank[0].bus_gbs == 2);
  CHECK(speeds.calls == 8);
}

TEST_CASE("speeds: calls that not all ranks have are not compared, and absent ranks are counted") {
  TimedCalls late = series(1, {100, 110});
  for (TimedCalls* each : {&late})
    for (TimedCall& call : each->calls) call.sequence += 3;
  const std::vector<InspectorFile> files = {file_of({series(0, {300, 310, 320, 330}), late})};
  CHECK(collective_speeds(files).table.at(0).calls_of_all == 1);
  const std::vector<InspectorFile> one = {file_of({series(0, {300})})};
  CHECK(collective_speeds(one).table.at(0).absent == 1);
  CHECK(collective_speeds(one).table.at(0).calls_of_all == 0);
}

TEST_CASE("speeds: a call that is there twice counts once") {
  const std::vector<InspectorFile> files = {file_of({series(0, {300, 310})}), file_of({series(0, {300, 310})})};
  const auto speeds = collective_speeds(files);
  CHECK(speeds.repeated == 2);
  CHECK(speeds.calls == 2);
}

TEST_CASE("speeds: kinds, sizes and sources apart, those with the most time first") {
  TimedCalls by_cpu = series(0, {1, 1, 1});
  by_cpu.source = TimingSource::kCpuCall;
  const std::vector<InspectorFile> files = {
      file_of({series(0, {10, 10}), series(0, {50}, 4096), series(0, {5}, 1024, "AllGather"), by_cpu})};
  const auto speeds = collective_speeds(files);
  REQUIRE(speeds.table.size() == 4);
  CHECK(speeds.table[0].size_bytes == 4096);
  CHECK(speeds.table[1].by_rank[0].calls == 2);
}
