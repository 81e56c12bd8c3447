#include <string>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/markdown.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl;
using namespace nl::exporters::report;
using nl::test::has;

namespace {

std::string gaps_text(const Run& run) { return nl::exporters::markdown({"T", "", {}, {}, {recurring_gaps(run)}}); }

StageGap gap_of(GapKind kind, Ns total_ns, double share) {
  StageGap gap;
  gap.kind = kind;
  gap.windows = gap.count = 10;
  gap.mean_ns = static_cast<double>(total_ns) / 10;
  gap.wall_share = share;
  gap.budget.wall_ns = gap.budget.launch_starved_ns = total_ns;
  return gap;
}

// Ten windows of 10 ms: 28 % in a function of the user's, 20 % between launches.
Run gap_run() {
  Run run;
  StageEntry stage;
  stage.name = "decode_step";
  stage.wall.count = 10;
  stage.budget.emplace().wall_ns = 100'000'000;
  stage.gaps = {gap_of(GapKind::kRecurring, 28'000'000, 0.28), gap_of(GapKind::kBetweenLaunches, 20'000'000, 0.2)};
  StageGap& gap = stage.gaps[0];
  gap.median_ns = 2'750'000;
  gap.before = "void argmax<float>(float*)";
  gap.after = "[CUDA memcpy Host-to-Device]";
  HostBlame& blame = gap.host.emplace();
  blame.samples = 50;
  blame.own_samples = blame.function_samples = 48;
  blame.function = HostFrame{"tally", "/home/me/serve.py", "__main__", 9, 9, ""};
  blame.line = HostFrame{"tally", "/home/me/serve.py", "__main__", 11, 9, "total += 1"};
  blame.caller = HostFrame{"Ledger.put", "/home/me/serve.py", "__main__", 14, 14, ""};
  run.stages = {stage};
  return run;
}

}  // namespace

TEST_CASE("recurring gaps: each with its code, its time in a window and the work around it") {
  const std::string text = gaps_text(gap_run());
  CHECK(has(text, "2.800 ms in every window, 28.0 % of the time: tally (serve.py:11), called by Ledger.put."));
  CHECK(has(text, "argmax"));
  CHECK(has(text, "between launches"));
  CHECK(has(text, "launch-starved"));
}

TEST_CASE("recurring gaps: without samples the code is not known, without a recurring gap nothing is said") {
  Run run = gap_run();
  run.stages[0].gaps[0].host->samples = 3;
  CHECK_FALSE(has(gaps_text(run), "tally"));
  CHECK(has(gaps_text(run), "recurring"));
  run.stages[0].gaps.erase(run.stages[0].gaps.begin());
  CHECK(recurring_gaps(run).blocks.empty());
  run.stages[0].gaps.clear();
  CHECK(recurring_gaps(run).blocks.empty());
}
