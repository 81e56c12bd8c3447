#include "analysis/collectives/mismatch.h"

#include "tests/catch.h"
#include "tests/unit/analysis/collectives/made_dump.h"

using namespace nl;
using namespace nl::analysis::collectives;
using nl::test::form;
using nl::test::MadeDump;

namespace {

using Ranks = std::vector<std::uint32_t>;

std::optional<Mismatch> mismatch_of(const std::vector<MadeDump>& ranks) {
  std::vector<FlightDump> dumps;
  for (const MadeDump& made : ranks) dumps.push_back(made.dump);
  return first_mismatch(calls_by_group(dumps).at(0));
}

// Four ranks, of which rank 1 makes another call.
std::optional<Mismatch> mismatch_with(const CallForm& ours, const CallForm& theirs) {
  std::vector<MadeDump> ranks;
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    ranks.emplace_back(rank).calls(3).call(rank == 1 ? theirs : ours, CallState::kCompleted, 0, 7);
  return mismatch_of(ranks);
}

CallForm ruled(CallForm form, CallRule rule) {
  form.rule = rule;
  return form;
}

}  // namespace

TEST_CASE("mismatch: another kind, size or type, by whom, and where from") {
  const auto kind = mismatch_with(form("all_reduce"), form("broadcast"));
  REQUIRE(kind);
  CHECK(kind->sequence == 4);
  CHECK(kind->kind == MismatchKind::kKind);
  CHECK(kind->majority);
  REQUIRE(kind->sides.size() == 2);
  CHECK(kind->sides[0].ranks == Ranks{0, 2, 3});
  CHECK(kind->sides[1].ranks == Ranks{1});
  CHECK(kind->sides[1].form.kind == "broadcast");
  CHECK(kind->sides[1].stack.at(0).line == 7);
  CHECK(mismatch_with(form("all_reduce"), form("all_reduce", {512}))->kind == MismatchKind::kSizes);
  CHECK(mismatch_with(form("all_reduce"), form("all_reduce", {1024}, "Half"))->kind == MismatchKind::kTypes);
}

TEST_CASE("mismatch: what may differ does") {
  CHECK_FALSE(mismatch_with(form("all_reduce", {1024}), form("all_reduce", {32, 32})));  // as many elements
  CHECK_FALSE(mismatch_with(ruled(form("all_to_all", {1}), CallRule::kFreeSizes), ruled(form("all_to_all", {2}), CallRule::kFreeSizes)));
  CHECK(mismatch_with(ruled(form("all_to_all", {1}), CallRule::kFreeSizes), ruled(form("all_to_all", {1}, "Half"), CallRule::kFreeSizes)));
  CallForm root = ruled(form("scatter", {8}), CallRule::kScatter), other = root;
  root.inputs = {{8}, {8}, {8}, {8}}, other.inputs = {}, other.input_dtypes = {};
  CHECK_FALSE(mismatch_with(other, root));
  other.outputs = {{9}};
  CHECK(mismatch_with(other, root));
  CallForm to = ruled(form("gather", {8}), CallRule::kGather), from = to;
  from.outputs = {}, from.output_dtypes = {};
  CHECK_FALSE(mismatch_with(from, to));
}

TEST_CASE("mismatch: calls that are swapped, and one that is left out") {
  std::vector<MadeDump> ranks;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    MadeDump& made = ranks.emplace_back(rank).calls(2);
    for (const char* kind : {"broadcast", "reduce", "barrier"})
      if (rank != 1 || std::string_view(kind) != "broadcast") made.call(form(kind));
  }
  CHECK(mismatch_of(ranks)->kind == MismatchKind::kOrder);
  CHECK(mismatch_of(ranks)->sequence == 3);
  ranks[1] = MadeDump(1).calls(2).call(form("reduce")).call(form("broadcast")).call(form("barrier"));
  CHECK(mismatch_of(ranks)->kind == MismatchKind::kOrder);
  ranks[1] = MadeDump(1).calls(2).call(form("gather")).call(form("scatter")).call(form("barrier"));
  CHECK(mismatch_of(ranks)->kind == MismatchKind::kKind);
}

TEST_CASE("mismatch: two against two have no majority") {
  std::vector<MadeDump> ranks;
  for (std::uint32_t rank = 0; rank < 4; ++rank) ranks.emplace_back(rank).call(form(rank < 2 ? "reduce" : "broadcast"));
  REQUIRE(mismatch_of(ranks));
  CHECK_FALSE(mismatch_of(ranks)->majority);
}

TEST_CASE("mismatch: numbers that a recorder does not have any more are not compared") {
  std::vector<MadeDump> ranks;
  for (std::uint32_t rank = 0; rank < 4; ++rank) ranks.emplace_back(rank).call(form(rank == 1 ? "reduce" : "broadcast")).calls(5);
  REQUIRE(mismatch_of(ranks));
  for (MadeDump& made : ranks) made.keep(4);
  CHECK_FALSE(mismatch_of(ranks));
}

TEST_CASE("mismatch: in a batch, of which the first that a recorder has may be a rest") {
  const auto batch = [](std::uint32_t rank, const char* second) {
    MadeDump made(rank);
    made.call(form("all_reduce")).call(form(second)).call(form("coalesced")).call(form("barrier"));
    for (RecordedCall& call : made.dump.calls) call.sequence = call.record < 3 ? 1 : 2;
    return made;
  };
  std::vector<MadeDump> ranks = {batch(0, "reduce"), batch(1, "broadcast"), batch(2, "reduce"), batch(3, "reduce")};
  REQUIRE(mismatch_of(ranks));
  CHECK(mismatch_of(ranks)->sides.at(1).form.kind == "broadcast");
  ranks = {batch(0, "reduce"), batch(1, "reduce").keep(2), batch(2, "reduce"), batch(3, "reduce")};
  CHECK_FALSE(mismatch_of(ranks));
}
