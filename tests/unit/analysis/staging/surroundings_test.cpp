#include "analysis/staging/surroundings.h"

#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

namespace {

using nl::analysis::IterationPlan;
using nl::analysis::StageTable;
using nl::analysis::SurroundingsCache;
using nl::analysis::WarmupRule;
using Names = std::vector<std::string>;

// The calls of a trace, asked for one after the other as they come.
class Asked {
 public:
  explicit Asked(const TraceBuilder& b, std::uint64_t warmup = 0, const char* chosen = nullptr)
      : trace_(b.trace), table_(trace_), windows_(nl::analysis::find_windows(trace_, table_)),
        plan_(nl::analysis::plan_iterations(trace_, table_, rule(warmup), windows_)),
        cache_(trace_, table_, plan_, windows_, chosen ? std::vector{table_.find(chosen)} : std::vector<std::uint32_t>{}) {}

  Names stages(std::uint32_t call) {
    Names names;
    for (const auto stage : cache_.of(call).stages) names.push_back(table_.stages()[stage]);
    return names;
  }
  Names ranges(std::uint32_t call) {
    Names names;
    for (const auto group : cache_.of(call).groups) names.push_back(trace_.strings[table_.groups()[group].name]);
    return names;
  }
  std::string top(std::uint32_t call) {
    const auto stage = cache_.of(call).top_stage;
    return stage == nl::kNone ? "none" : table_.stages()[stage];
  }
  bool chosen(std::uint32_t call) { return cache_.of(call).chosen; }

 private:
  static WarmupRule rule(std::uint64_t warmup) {
    WarmupRule rule;
    rule.mode = WarmupRule::Mode::kCount;
    rule.count = warmup;
    return rule;
  }
  const nl::Trace& trace_;
  StageTable table_;
  std::vector<nl::analysis::Window> windows_;
  IterationPlan plan_;
  SurroundingsCache cache_;
};

}  // namespace

TEST_CASE("a call is surrounded by the ranges of its thread that enclose it, each name once") {
  TraceBuilder b;
  b.stage("decode_step", 300, 400);  // later ranges may come first
  b.stage("prefill", 100, 200);
  b.range("ops", "attention", 120, 180);
  b.range("ops", "attention", 130, 170);
  b.range("ops", "elsewhere", 100, 200, 7);  // of a thread that is not there
  const auto before = b.call(50), first = b.call(100), inside = b.call(140), outlives = b.call(195, 0, "c", 6),
             within = b.call(196, 0, "c", 1), last = b.call(198, 0, "c", 2), after = b.call(250), step = b.call(350),
             other = b.call(140, 1);
  Asked asked(b, 0, "prefill");
  CHECK(asked.stages(before).empty());
  CHECK(asked.top(before) == "none");
  CHECK_FALSE(asked.chosen(before));
  CHECK(asked.ranges(first) == Names{"prefill"});
  CHECK(asked.ranges(inside) == Names{"prefill", "attention"});
  CHECK(asked.stages(inside) == Names{"prefill"});
  CHECK(asked.top(inside) == "prefill");
  CHECK(asked.chosen(inside));
  CHECK(asked.stages(outlives).empty());
  CHECK(asked.stages(within) == Names{"prefill"});
  CHECK(asked.stages(last) == Names{"prefill"});
  CHECK(asked.ranges(after).empty());
  CHECK(asked.stages(step) == Names{"decode_step", "decode"});
  CHECK(asked.top(step) == "decode");
  CHECK_FALSE(asked.chosen(step));
  CHECK(asked.ranges(other).empty());
  CHECK(asked.ranges(nl::kNone).empty());
}

TEST_CASE("what encloses a call at the very start of a range need not enclose the next") {
  TraceBuilder b;
  b.stage("prefill", 100, 200);
  b.range("ops", "instant", 150, 150);
  const auto at_once = b.call(150, 0, "c", 0), later = b.call(160), again = b.call(170);
  Asked asked(b);
  CHECK(asked.ranges(at_once) == Names{"prefill", "instant"});
  CHECK(asked.ranges(later) == Names{"prefill"});
  CHECK(asked.ranges(again) == Names{"prefill"});
}

TEST_CASE("between the steps of a decode without ranges of its own its window is open") {
  TraceBuilder b;
  b.stage("prefill", 0, 5);
  b.stage("decode_step", 10, 20);
  b.stage("decode_step", 30, 40);
  const auto before = b.call(6), inside = b.call(12), between = b.call(24), last = b.call(38), beyond = b.call(39), after = b.call(45);
  Asked asked(b);
  CHECK(asked.stages(before).empty());
  CHECK(asked.stages(inside) == Names{"decode_step", "decode"});
  CHECK(asked.stages(between) == Names{"decode"});
  CHECK(asked.ranges(between).empty());
  CHECK(asked.stages(last) == Names{"decode_step", "decode"});  // ends with it
  CHECK(asked.stages(beyond).empty());
  CHECK(asked.stages(after).empty());
}

TEST_CASE("a call in a warm-up iteration has no stages, but is in one") {
  TraceBuilder b;
  b.stage("prefill", 0, 5);
  b.stage("decode_step", 10, 20);
  b.stage("decode_step", 22, 25);
  b.stage("prefill", 30, 35);
  b.stage("decode_step", 40, 50);
  const auto cold = b.call(2), cold_step = b.call(12), between = b.call(20, 0, "c", 1), warm = b.call(32);
  Asked asked(b, 1, "decode");
  CHECK(asked.stages(cold).empty());
  CHECK(asked.top(cold) == "prefill");
  CHECK(asked.ranges(cold) == Names{"prefill"});
  CHECK(asked.stages(cold_step).empty());
  CHECK(asked.chosen(cold_step));  // of decode, whose steps are part of it
  CHECK(asked.stages(between).empty());
  CHECK(asked.stages(warm) == Names{"prefill"});
}

TEST_CASE("a thread without stages works for those of its process") {
  TraceBuilder b;
  b.stage("forward", 100, 200);
  b.stage("backward", 200, 400);
  b.range("ops", "of the helper", 250, 350, 1);
  const auto in_backward = b.call(300, 1), outside = b.call(500, 1), in_forward = b.call(150, 1);
  Asked asked(b);
  CHECK(asked.stages(in_forward) == Names{"forward"});
  CHECK(asked.stages(in_backward) == Names{"backward"});
  CHECK(asked.ranges(in_backward) == Names{"of the helper"});  // ranges are those of its own thread, as nsys has it
  CHECK(asked.top(in_backward) == "backward");
  CHECK(asked.stages(outside) == Names{});
}

TEST_CASE("a thread between two others with open stages works for neither, and one of another process for none") {
  TraceBuilder b;
  const auto helper = b.thread(0), elsewhere = b.thread(b.process());
  b.stage("request", 100, 300, 0);
  b.stage("request", 200, 400, 1);
  const auto alone = b.call(150, helper), between = b.call(250, helper), of_other = b.call(150, elsewhere);
  Asked asked(b);
  CHECK(asked.stages(alone) == Names{"request"});
  CHECK(asked.stages(between) == Names{});
  CHECK(asked.top(between) == "none");
  CHECK(asked.stages(of_other) == Names{});
}
