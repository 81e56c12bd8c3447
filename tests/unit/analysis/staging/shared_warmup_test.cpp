#include "analysis/staging/shared_warmup.h"

#include <string>

#include "tests/catch.h"
#include "tests/unit/analysis/ranks/ranks_builder.h"

namespace {

using nl::Ns;
using nl::analysis::StagedTrace;

// A step of each rank; all of them end together, in a collective.
void prompts(RanksBuilder& b, const std::vector<Ns>& starts, Ns end_ns, bool together = true) {
  std::vector<std::optional<Ns>> arrivals;
  for (std::uint32_t rank = 0; rank < starts.size(); ++rank) {
    b.stage("prefill", starts[rank], end_ns, rank);
    arrivals.emplace_back(starts[rank] + 10);
  }
  if (together) b.collective(arrivals, end_ns - 5);
}

std::vector<bool> warmup_of(const RanksBuilder& b) {
  std::vector<bool> out;
  for (const auto& span : StagedTrace(b.trace, {}).plan.spans) out.push_back(span.warmup);
  return out;
}

}  // namespace

TEST_CASE("ranks that share collectives warm up together: a step beside the warm-up of another is warm-up", "[ranks]") {
  RanksBuilder b(2);
  prompts(b, {0, 880}, 1000);  // the second rank compiled before its first step, and the first waits for it
  for (Ns at = 1000; at < 1500; at += 100) prompts(b, {at, at}, at + 95);
  CHECK(warmup_of(b) == std::vector<bool>{true, false, false, false, false, false, true, false, false, false, false, false});
  CHECK(StagedTrace(b.trace, {}).plan.rule.find("and 1 beside the warm-up of other ranks") != std::string::npos);
}

TEST_CASE("ranks without collectives, and copies of a model, warm up by themselves", "[ranks]") {
  RanksBuilder b(2);
  prompts(b, {0, 880}, 1000, false);
  for (Ns at = 1000; at < 1500; at += 100) prompts(b, {at, at}, at + 95, false);
  CHECK(warmup_of(b) == std::vector<bool>{true, false, false, false, false, false, false, false, false, false, false, false});
  // Groups of one member each.
  b.collective({1010, std::nullopt}, 1050);
  b.collective({std::nullopt, 1010}, 1050);
  CHECK(warmup_of(b)[6] == false);
}

TEST_CASE("a rank that launches ahead of the warm-up of another keeps its steps", "[ranks]") {
  RanksBuilder b(2);
  b.stage("prefill", 0, 1000, 0);
  for (Ns at = 0; at < 1000; at += 100) b.stage("prefill", at, at + 95, 1);  // its GPU works later
  for (Ns at = 1000; at < 1500; at += 100) prompts(b, {at, at}, at + 95);
  const std::vector<bool> warmup = warmup_of(b);
  CHECK(std::count(warmup.begin() + 6, warmup.end(), true) == 1);
}

TEST_CASE("what the configuration says of warm-up is of each thread", "[ranks]") {
  RanksBuilder b(2);
  prompts(b, {0, 880}, 1000);
  for (Ns at = 1000; at < 1500; at += 100) prompts(b, {at, at}, at + 95);
  const StagedTrace staged(b.trace, kEveryStep);
  CHECK(std::none_of(staged.plan.spans.begin(), staged.plan.spans.end(), [](const auto& span) { return span.warmup; }));
}
