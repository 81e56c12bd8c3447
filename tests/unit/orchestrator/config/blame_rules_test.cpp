#include <algorithm>
#include <string>

#include "model/headline.h"
#include "orchestrator/config/knowledge.h"
#include "tests/catch.h"
#include "tests/unit/analysis/figures/host/stepping_program.h"
#include "tests/unit/files.h"

// What the shipped rules say of programs whose cause of idle time is known.
using namespace nl;
using nl::test::has;
using nl::test::SteppingProgram;

namespace {

// `slowdown`: of the steps by profiling.
Run judged_program(const SteppingProgram& program, double slowdown = 0) {
  Run run = program.run_all();
  if (slowdown > 0)
    run.perturbation.stages.push_back(
        {PassKind::kNsys, "decode_step", {80}, {100}, slowdown, slowdown, slowdown, SlowdownVerdict::kOverLimit, "", ""});
  analysis::judge(orchestrator::load_rules(orchestrator::shipped_rules(), {}), run);
  return run;
}

const Finding* finding_of(const Run& run, const std::string& rule) {
  const auto found = std::find_if(run.findings.begin(), run.findings.end(), [&](const Finding& each) { return each.rule == rule; });
  return found != run.findings.end() ? &*found : nullptr;
}

double saving(const Run& run, const std::string& rule) {
  const Finding* finding = finding_of(run, rule);
  return finding != nullptr ? finding->gain_per_window_ns.value_or(0) : 0;
}

struct Program : SteppingProgram {
  std::uint32_t main = frame("__main__", "main", 40), loop = frame("transformers.generation.utils", "GenerationMixin._sample", 2800);
  std::uint32_t model = stack({main, loop, frame("transformers.models.x.modeling_x", "XNorm.forward", 60)});
};

}  // namespace

TEST_CASE("a streamer's own function leads, and CUDA graphs are not promised its time") {
  Program p;
  const auto own = p.stack({p.main, p.loop, p.frame("__main__", "Ledger.put", 14), p.frame("__main__", "tally_words", 9)});
  for (int i = 0; i < 40; ++i)
    p.step([&] {
      p.work("k", 150, 20'000, 14'000, p.model);
      p.run_host(1'200'000, own);
      p.work("k", 20'000, 5'000, p.model);
    });
  const Run run = judged_program(p);
  REQUIRE(findings_to_work_on(run).size() > 0);
  const Finding& first = *findings_to_work_on(run).front();
  CHECK(first.rule == "recurring_gap");
  CHECK(has(first.message, "tally_words (__main__.py:9), called by Ledger.put"));
  CHECK(has(first.message, "40 of 40 windows"));
  CHECK(*first.gain_share == Approx(0.28).margin(0.01));
  CHECK(*first.gain_per_window_ns == Approx(1'200'000).epsilon(0.03));
  CHECK(saving(run, "graph_capture_missing") < 1'000'000);
  CHECK(finding_of(run, "host_gap") == nullptr);  // the longest gap is this one
}

TEST_CASE("where launches take more than the user's function, CUDA graphs lead, without its time") {
  Program p;
  const auto own = p.stack({p.main, p.loop, p.frame("__main__", "note", 14)});
  for (int i = 0; i < 40; ++i)
    p.step([&] {
      p.work("k", 300, 20'000, 4'000, p.model);
      p.run_host(1'000'000, own);
      p.work("k", 20'000, 4'000, p.model);
    });
  const Run run = judged_program(p);
  CHECK(findings_to_work_on(run).front()->cause == "launches");
  const double graphs = saving(run, "launch_bound_decode");
  CHECK(graphs == Approx(300 * 16'000).epsilon(0.03));  // not the 1 ms
  CHECK(saving(run, "recurring_gap") == Approx(1'000'000).epsilon(0.05));
}

TEST_CASE("a launch-bound step without other host work has CUDA graphs as its only lead") {
  Program p;
  for (int i = 0; i < 40; ++i) p.step([&] { p.work("k", 300, 20'000, 4'000, p.model); });
  const Run run = judged_program(p);
  CHECK(findings_to_work_on(run).front()->cause == "launches");
  CHECK(finding_of(run, "recurring_gap") == nullptr);
  CHECK(saving(run, "launch_bound_decode") == Approx(300 * 16'000).epsilon(0.03));
}

// 100 kernels of 30 µs a step, a wait for the value, and a check of 1 ms on the host. Profiling makes each launch take 45 µs instead of 12:
// unprofiled a step takes 4.1 ms, traced 5.5.
TEST_CASE("after a wait for a value the check that follows it leads, and CUDA graphs bring little") {
  Program p;
  const auto decode = p.stack({p.main, p.frame("__main__", "decode", 22)}),
             item = p.stack({p.main, p.frame("__main__", "decode", 30, "token = logits.argmax().item()")}),
             check = p.stack({p.main, p.frame("__main__", "decode", 31), p.frame("__main__", "obeys_grammar", 7)});
  for (int i = 0; i < 40; ++i)
    p.step([&] {
      p.work("k", 100, 45'000, 30'000, decode);
      p.wait_for_gpu(item);
      p.run_host(1'000'000, check);
    });
  const Run run = judged_program(p, 0.34);
  const Finding& first = *findings_to_work_on(run).front();
  CHECK((first.rule == "recurring_gap" || first.cause == "waits"));
  const Finding* gap = finding_of(run, "recurring_gap");
  REQUIRE(gap != nullptr);
  CHECK(has(gap->message, "obeys_grammar (__main__.py:7), called by decode"));
  CHECK(*gap->gain_per_window_ns == Approx(1'000'000).epsilon(0.05));
  CHECK(*gap->gain_share > 0.2);
  CHECK(std::any_of(gap->suggestions.begin(), gap->suggestions.end(),
                    [](const std::string& text) { return has(text, "follows a wait for the GPU"); }));
  CHECK(saving(run, "graph_capture_missing") < 0.12 * 4'100'000);
  CHECK(saving(run, "launch_bound_decode") < 0.12 * 4'100'000);
}

TEST_CASE("two gaps of one step: the longer is the finding, the other is told with it") {
  Program p;
  const auto route = p.stack({p.main, p.frame("__main__", "route", 14)}), score = p.stack({p.main, p.frame("__main__", "score", 24)});
  for (int i = 0; i < 40; ++i)
    p.step([&] {
      p.work("k", 60, 12'000, 10'000, p.model);
      p.run_host(600'000, route);
      p.work("k", 60, 12'000, 10'000, p.model);
      p.run_host(400'000, score);
      p.work("k", 12'000, 10'000, p.model);
    });
  const Run run = judged_program(p);
  const Finding* gap = finding_of(run, "recurring_gap");
  REQUIRE(gap != nullptr);
  CHECK(has(gap->message, "route (__main__.py:14)"));
  CHECK(std::any_of(gap->suggestions.begin(), gap->suggestions.end(),
                    [](const std::string& text) { return has(text, "score (__main__.py:24)"); }));
}
