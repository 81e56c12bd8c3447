#include "analysis/collectives/flight_report.h"

#include "tests/catch.h"
#include "tests/unit/analysis/collectives/made_dump.h"

using namespace nl;
using nl::analysis::collectives::flight_report;
using nl::test::form;
using nl::test::MadeDump;

namespace {

using Ranks = std::vector<std::uint32_t>;

constexpr CallState kStarted = CallState::kStarted, kScheduled = CallState::kScheduled, kCompleted = CallState::kCompleted;

// Four ranks after `calls` calls that all completed.
std::vector<MadeDump> four(int calls = 4) {
  std::vector<MadeDump> ranks;
  for (std::uint32_t rank = 0; rank < 4; ++rank) ranks.emplace_back(rank).calls(calls);
  return ranks;
}

FlightReport report_of(const std::vector<MadeDump>& ranks) {
  std::vector<FlightDump> dumps;
  for (const MadeDump& made : ranks) dumps.push_back(made.dump);
  return flight_report(dumps);
}

}  // namespace

TEST_CASE("flight report: nothing waits where every call is completed") {
  const FlightReport report = report_of(four());
  CHECK(report.verdict == FlightVerdict::kNothingWaits);
  CHECK(report.calls == 16);
  CHECK(report.ranks == Ranks{0, 1, 2, 3});
  CHECK(report.missing.empty());
  CHECK(report.groups.at(0).members.at(2).completed == 4u);
}

TEST_CASE("flight report: the rank that did not call is the one that is waited for") {
  auto ranks = four();
  for (const std::uint32_t rank : {0, 1, 3}) ranks[rank].call(form("all_reduce"), rank == 3 ? kScheduled : kStarted, 0, 20);
  const FlightReport report = report_of(ranks);
  CHECK(report.verdict == FlightVerdict::kNotCalled);
  const GroupWait& wait = report.groups.at(0).wait.value();
  CHECK(wait.sequence == 5);
  CHECK(wait.started == Ranks{0, 1});
  CHECK(wait.scheduled == Ranks{3});
  CHECK(wait.not_called == Ranks{2});
  CHECK(wait.stack.at(0).line == 20);
  REQUIRE(report.waited_for.size() == 1);
  CHECK(report.waited_for[0].rank == 2);
  CHECK(report.waited_for[0].by == Ranks{0, 1, 3});
  CHECK(report.waited_for[0].last_sequence == 4);
}

TEST_CASE("flight report: a rank whose recorder turned round, or kept open calls only, is not said to have not called") {
  auto ranks = four();
  for (const std::uint32_t rank : {0, 1, 3}) ranks[rank].call(form("all_reduce"), kStarted);
  const std::vector<DumpGroup> two = {{"0", "default_pg", {0, 1, 2, 3}}, {"1", "", {2}}};
  ranks[2] = MadeDump(2, two).calls(4);
  for (int i = 0; i < 9; ++i) ranks[2].call(form("barrier"), kCompleted, 1);
  ranks[2].keep(6);  // none of the group that the others wait in
  CHECK(report_of(ranks).groups.at(0).wait->unknown == Ranks{2});
  CHECK(report_of(ranks).verdict == FlightVerdict::kUnknown);
  CHECK(report_of(ranks).begin_late == Ranks{2});

  ranks[2] = MadeDump(2).calls(4);
  ranks[2].keep(1);  // the last one of the group is in it, so that a later one would be, too
  CHECK(report_of(ranks).groups.at(0).wait->not_called == Ranks{2});

  ranks[2] = MadeDump(2).calls(9);
  ranks[2].dump.calls.erase(ranks[2].dump.calls.begin() + 4, ranks[2].dump.calls.begin() + 7);
  CHECK(report_of(ranks).groups.at(0).wait->unknown == Ranks{2});
  CHECK(report_of(ranks).incomplete == Ranks{2});

  ranks[2] = MadeDump(2);
  ranks[2].dump.calls_dumped = false;
  CHECK(report_of(ranks).groups.at(0).wait->unknown == Ranks{2});
  ranks[2].dump.calls_dumped = true;  // it has called nothing at all
  CHECK(report_of(ranks).groups.at(0).wait->not_called == Ranks{2});
}

TEST_CASE("flight report: a group that a rank never used, and others wait for it") {
  const std::vector<DumpGroup> with_tp = {{"0", "default_pg", {0, 1}}, {"1", "tp", {0, 1}}};
  std::vector<MadeDump> ranks;
  ranks.emplace_back(0, with_tp).calls(2).call(form("all_reduce"), kStarted, 1);
  ranks.emplace_back(1, std::vector<DumpGroup>{{"0", "default_pg", {0, 1}}}).calls(2);
  const FlightReport report = report_of(ranks);
  CHECK(report.missing.empty());
  CHECK(report.groups.at(1).wait->not_called == Ranks{1});
  CHECK(report.verdict == FlightVerdict::kNotCalled);
}

TEST_CASE("flight report: a rank without a dump may be the one") {
  auto ranks = four();
  for (const std::uint32_t rank : {0, 2, 3}) ranks[rank].call(form("all_reduce"), kStarted);
  ranks.erase(ranks.begin() + 1);
  const FlightReport report = report_of(ranks);
  CHECK(report.verdict == FlightVerdict::kNoDump);
  CHECK(report.missing == Ranks{1});
  CHECK(report.groups.at(0).wait->no_dump == Ranks{1});
  CHECK(report.groups.at(0).wait->not_called.empty());
}

TEST_CASE("flight report: all called, and it is not done") {
  auto ranks = four();
  for (MadeDump& rank : ranks) rank.call(form("all_reduce"), kStarted);
  CHECK(report_of(ranks).verdict == FlightVerdict::kAllCalled);
  CHECK(report_of(ranks).waited_for.empty());
}

TEST_CASE("flight report: a call that needs all and is completed somewhere was called by all, whatever an older dump has") {
  auto ranks = four();
  ranks[0].call(form("all_reduce"), kStarted);
  ranks[1].call(form("all_reduce"));
  FlightReport report = report_of(ranks);
  CHECK(report.groups.at(0).wait->done_elsewhere);
  CHECK(report.groups.at(0).wait->not_called.empty());
  CHECK(report.groups.at(0).wait->unknown == Ranks{2, 3});
  CHECK(report.waited_for.empty());
  CHECK(report.verdict == FlightVerdict::kUnknown);

  ranks = four();  // the root of a broadcast is done before the others have called
  ranks[0].call(form("broadcast", {8}, "Float", CallRule::kRoot));
  ranks[1].call(form("broadcast", {8}, "Float", CallRule::kRoot), kStarted);
  report = report_of(ranks);
  CHECK_FALSE(report.groups.at(0).wait->done_elsewhere);
  CHECK(report.groups.at(0).wait->not_called == Ranks{2, 3});

  ranks = four();  // and a later call that no rank has completed tells more
  ranks[0].call(form("all_reduce"), kStarted).call(form("all_reduce"), kStarted);
  ranks[1].call(form("all_reduce")).call(form("all_reduce"), kStarted);
  for (const std::uint32_t rank : {2, 3}) ranks[rank].call(form("all_reduce"));
  report = report_of(ranks);
  CHECK(report.groups.at(0).wait->sequence == 6);
  CHECK(report.groups.at(0).wait->not_called == Ranks{2, 3});
}

TEST_CASE("flight report: through ranks that wait themselves to the one that does not") {
  const DumpGroup all = {"0", "default_pg", {0, 1, 2, 3}}, tp = {"1", "tp", {0, 1}}, pp = {"2", "pp", {1, 3}};
  auto ranks = four(2);
  ranks[0] = MadeDump(0, {all, tp}).calls(2).call(form("all_reduce"), kStarted, 1);
  ranks[1] = MadeDump(1, {all, tp, pp}).calls(2).peer(false, 1, kStarted, 2);
  const FlightReport report = report_of(ranks);
  CHECK(report.verdict == FlightVerdict::kNotCalled);
  REQUIRE(report.waited_for.size() == 2);
  CHECK(report.waited_for[0].rank == 3);
  CHECK(report.waited_for[0].by == Ranks{1});
  CHECK(report.waited_for[1].rank == 1);
  CHECK(report.waited_for[1].waits_for == Ranks{3});
}

TEST_CASE("flight report: two groups entered in opposite order are a circle") {
  const std::vector<DumpGroup> groups = {{"1", "tp", {0, 1}}, {"2", "pp", {0, 1}}};
  std::vector<MadeDump> ranks;
  ranks.emplace_back(0, groups).call(form("all_reduce"), kStarted, 0);
  ranks.emplace_back(1, groups).call(form("all_reduce"), kStarted, 1);
  const FlightReport report = report_of(ranks);
  CHECK(report.verdict == FlightVerdict::kCircle);
  CHECK(report.waited_for.size() == 2);
}

TEST_CASE("flight report: the other end of a send") {
  const auto other_end = [](MadeDump sender, MadeDump receiver) {
    const FlightReport report = report_of({std::move(sender), std::move(receiver)});
    return report.peers.at(0).peer_called;
  };
  const MadeDump sender = MadeDump(0).peer(true, 1, kCompleted).peer(true, 1, kStarted);
  CHECK(other_end(sender, MadeDump(1).peer(false, 0, kCompleted)) == false);
  CHECK(other_end(sender, MadeDump(1).peer(false, 0, kCompleted).peer(false, 0, kCompleted)) == true);
  CHECK(other_end(sender, MadeDump(1).peer(false, 0, kCompleted).peer(false, 0, kStarted)) == true);
  CHECK(other_end(sender, MadeDump(1).calls(3).peer(false, 0, kCompleted).keep(1)) == std::nullopt);  // its older ones are gone
  CHECK(other_end(sender, MadeDump(1).peer(true, 0, kStarted)) == false);                             // a send is no receive
  const FlightReport report = report_of({sender});
  CHECK_FALSE(report.peers.at(0).peer_has_dump);
  CHECK(report.verdict == FlightVerdict::kNoDump);
}

TEST_CASE("flight report: dumps whose calls lie apart in time") {
  auto ranks = four();
  CHECK(report_of(ranks).apart_ns == 0);
  for (RecordedCall& call : ranks[3].dump.calls) call.created_ns += 3'600'000'000'000;
  const FlightReport report = report_of(ranks);
  CHECK(report.apart_ns == 3'600'000'000'000 - 3);
  CHECK(report.late_rank == 3);
}

TEST_CASE("flight report: groups of one name and other ranks are others") {
  std::vector<MadeDump> ranks;
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    ranks.emplace_back(rank, std::vector<DumpGroup>{{"tp", "", rank < 2 ? Ranks{0, 1} : Ranks{2, 3}}})
        .call(form("all_reduce", {rank < 2 ? 8 : 16}));
  const FlightReport report = report_of(ranks);
  CHECK(report.groups.size() == 2);
  CHECK(report.verdict == FlightVerdict::kNothingWaits);
}

TEST_CASE("flight report: a thousand ranks") {
  Ranks all;
  for (std::uint32_t rank = 0; rank < 1000; ++rank) all.push_back(rank);
  std::vector<MadeDump> ranks;
  for (std::uint32_t rank = 0; rank < 1000; ++rank) {
    ranks.emplace_back(rank, std::vector<DumpGroup>{{"0", "default_pg", all}}).calls(20);
    if (rank != 777) ranks.back().call(form("all_reduce"), kStarted);
  }
  const FlightReport report = report_of(ranks);
  REQUIRE(report.waited_for.size() == 1);
  CHECK(report.waited_for[0].rank == 777);
  CHECK(report.waited_for[0].by.size() == 999);
}
