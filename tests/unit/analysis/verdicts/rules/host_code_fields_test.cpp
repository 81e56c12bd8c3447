#include <string>

#include "analysis/verdicts/rules/fields.h"
#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis::rules;

namespace {

// 1,000 ns, 400 of them launch-starved; 20 samples in them.
Run sampled_run() {
  Run run;
  StageEntry& stage = run.stages.emplace_back();
  stage.name = "prefill";
  stage.wall = {1, 1000, 1000, 1000, 1000, 1000, 1000, 0};
  Budget budget;
  budget.wall_ns = 1000;
  budget.gpu_compute_ns = 600;
  budget.launch_starved_ns = 400;
  stage.budget = budget;
  HostCode& code = stage.host_code.emplace();
  code.waited_ns = 800;  // two GPUs
  code.samples = 20;
  code.kinds = {{HostWork::kModel, 8, 320}, {HostWork::kFramework, 5, 200}, {HostWork::kTokenizer, 4, 160}, {HostWork::kOther, 3, 120}};
  code.lines = {{{"A.forward", "/site/modeling.py", "m", 245, 227, ""}, HostWork::kModel, 6, 7, 240, 280}};
  code.syncs = {{{"main", "/code/gen.py", "__main__", 12, 3, "x.item()"}, 25, 50}};
  HostBlame& blame = code.blame.emplace();
  blame.samples = 20;
  blame.function = HostFrame{"A.forward", "/site/modeling.py", "m", 227, 227, ""};
  blame.function_samples = 17;
  blame.line = code.lines[0].frame;
  blame.line_samples = 16;
  code.collections = 3;
  code.collection_ns = 200;
  run.host.emplace().sampler = HostSampler::kPython;
  return run;
}

Value value_of(const Run& run, const char* name) {
  const RunTotals totals = total(run);
  return find_field(RuleScope::kStage, name)->read(subjects_of(run, totals, RuleScope::kStage).front());
}

std::string shown(const Run& run, const char* name) {
  const RunTotals totals = total(run);
  return find_field(RuleScope::kStage, name)->shown(subjects_of(run, totals, RuleScope::kStage).front());
}

}  // namespace

TEST_CASE("host code fields are shares of the stage's time") {
  const Run run = sampled_run();
  CHECK(value_of(run, "host_samples").number == 20);
  CHECK(value_of(run, "host_module_share").number == Approx(0.4 * 13 / 20));
  CHECK(value_of(run, "host_tokenizer_share").number == Approx(0.4 * 4 / 20));
  CHECK(value_of(run, "host_other_share").number == Approx(0.4 * 3 / 20));
  CHECK(value_of(run, "host_server_share").number == 0);
  CHECK(value_of(run, "garbage_share").number == Approx(0.4 * 200 / 800));
  CHECK(value_of(run, "garbage_collections").number == 3);
  CHECK(value_of(run, "host_line").text == "A.forward");
  CHECK(shown(run, "host_line") == "A.forward (modeling.py:245)");
  CHECK(value_of(run, "host_line_share").number == Approx(0.4 * 16 / 20));
  CHECK(shown(run, "sync_line") == "main (gen.py:12)");
  CHECK(value_of(run, "sync_line_share").number == Approx(0.05));
}

TEST_CASE("a line is named only where it stands out, else its function, else none") {
  Run run = sampled_run();
  HostBlame& blame = *run.stages[0].host_code->blame;
  blame.line.reset();
  CHECK(shown(run, "host_line") == "A.forward (modeling.py:227)");
  CHECK(value_of(run, "host_line_share").number == Approx(0.4 * 17 / 20));
  blame.function.reset();
  CHECK_FALSE(value_of(run, "host_line").known);
  CHECK(value_of(run, "host_line").captured);
  CHECK_FALSE(value_of(run, "host_line_share").known);
}

TEST_CASE("fields of recurring gaps are those of the first, and 0 without one") {
  Run run = sampled_run();
  CHECK(value_of(run, "gap_time").number == 0);
  CHECK(value_of(run, "gap_host_time").number == 0);
  CHECK_FALSE(value_of(run, "gap_code").known);
  CHECK(value_of(run, "launching_time").number == 400);
  StageGap gap;
  gap.kind = GapKind::kRecurring;
  gap.windows = 1;
  gap.mean_ns = 250;
  gap.wall_share = 0.25;
  gap.budget.wall_ns = 250;
  gap.budget.launch_starved_ns = 150;
  gap.budget.other_host_ns = 100;
  gap.not_launching_ns = 200;
  HostBlame& blame = gap.host.emplace();
  blame.samples = 10;
  blame.own_samples = 8;
  blame.function = HostFrame{"check", "/home/me/gen.py", "__main__", 4, 4, ""};
  run.stages[0].gaps = {gap};
  CHECK(value_of(run, "gap_time").number == 250);
  CHECK(value_of(run, "gap_share").number == 0.25);
  CHECK(value_of(run, "gap_host_time").number == 200);
  CHECK(value_of(run, "gap_own_share").number == Approx(0.8));
  CHECK(shown(run, "gap_code") == "check (gen.py:4)");
  CHECK(value_of(run, "next_gap_time").number == 0);
  CHECK(value_of(run, "launching_time").number == Approx(400 - 200 * 150 / 250.0));  // as much of it as lies in waits for launches
  run.stages[0].gaps[0].host->samples = 3;
  CHECK_FALSE(value_of(run, "gap_code").known);
}

TEST_CASE("waits that are removed save what then overlaps") {
  Run run = sampled_run();
  StageActivity& activity = run.stages[0].activity.emplace();
  activity.sync_call_ns = 150;
  CHECK(value_of(run, "overlap_time").number == 150);  // the host is busy the other 850 of 1000
  activity.sync_call_ns = 700;
  CHECK(value_of(run, "overlap_time").number == 400);  // the GPU is busy 600
}

TEST_CASE("of few samples no share is told, of none nothing") {
  Run run = sampled_run();
  run.stages[0].host_code->samples = 19;
  run.stages[0].host_code->syncs[0].time_ns.reset();
  for (const char* name : {"host_module_share", "host_tokenizer_share", "host_line", "host_line_share", "sync_line", "sync_line_share"}) {
    INFO(name);
    CHECK_FALSE(value_of(run, name).captured);
  }
  CHECK(value_of(run, "host_samples").number == 19);
  CHECK(value_of(run, "garbage_share").known);  // those are counted, not sampled
  run.stages[0].host_code.reset();
  for (const char* name : {"host_samples", "host_module_share", "garbage_share", "garbage_collections"})
    CHECK_FALSE(value_of(run, name).captured);
}
