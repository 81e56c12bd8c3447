// Tracing some of the steps, in real processes over the libcupti that stands in for the real one.
#include <algorithm>

#include "tests/catch.h"
#include "tests/unit/collector/injected_program.h"

using namespace nl;
using namespace nl::test;

namespace {

Environment one_in(const std::string& duty, const std::string& row, const std::string& seed = "1") {
  return {{"NL_STAGE_DUTY", duty},
          {"NL_STAGE_DUTY_STEPS", "LLM@decode_step\nLLM@prefill"},
          {"NL_STAGE_DUTY_ROW", row},
          {"NL_STAGE_DUTY_SEED", seed}};
}

const TracedSpan* span_of(const Trace& trace, const Range& range) {
  for (const TracedSpan& span : trace.duty->spans)
    if (range.start_ns >= span.start_ns && range.start_ns < span.last_begin_ns) return &span;
  return nullptr;
}

std::size_t kernels_in(const Trace& trace, const Range& range) {
  return static_cast<std::size_t>(std::count_if(trace.kernels.begin(), trace.kernels.end(), [&](const Kernel& kernel) {
    if (kernel.api == kNone) return false;  // another thread's, in the middle of its launch when tracing began
    const ApiCall& call = trace.api_calls[kernel.api];
    return call.thread == range.thread && call.start_ns >= range.start_ns && call.start_ns < range.end_ns;
  }));
}

// By step, in the order of time: whether it was traced. Each has all of its kernels or is not said to have been traced. `cut`: steps of a thread
// that was about to begin one when another thread's row began.
std::vector<bool> traced_steps(const Trace& trace, const char* name, std::size_t kernels, int most_cut = 0) {
  std::vector<bool> traced;
  for (const Range& range : ranges_named(trace, "LLM", name)) {
    const TracedSpan* span = span_of(trace, range);
    const bool cut = span != nullptr && range.end_ns > span->end_ns;
    most_cut -= cut;
    traced.push_back(span != nullptr && !cut);
    if (traced.back()) CHECK(kernels_in(trace, range) == kernels);
  }
  CHECK(most_cut >= 0);
  return traced;
}

std::size_t count_of(const std::vector<bool>& values) { return static_cast<std::size_t>(std::count(values.begin(), values.end(), true)); }

Trace traced_run(const std::vector<std::string>& program, const Environment& environment, int exit_status = 0) {
  ScratchFolder folder;
  const Outcome outcome = run_gpu(program, folder.path(), environment);
  REQUIRE(outcome.exit_status == exit_status);
  return read_folder(folder.path());
}

}  // namespace

TEST_CASE("duty: chosen steps have all their kernels, the others none") {
  const Trace trace = traced_run({"generate", "60"}, one_in("1/5", "4,1"));
  REQUIRE(trace.duty);
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(trace.duty->spans.size() >= 6);
  const std::vector<bool> steps = traced_steps(trace, "decode_step", 3);
  REQUIRE(steps.size() == 180);
  for (std::size_t i = 0; i < 4; ++i) CHECK(steps[i]);
  CHECK(count_of(steps) >= 4 + 8 * 4);
  CHECK(count_of(steps) <= 4 + 9 * 4);
  const std::vector<bool> prompts = traced_steps(trace, "prefill", 2);
  CHECK(count_of(prompts) == 3);
  std::size_t untraced_kernels = 0;
  for (const Range& range : ranges_named(trace, "LLM", "decode_step"))
    if (span_of(trace, range) == nullptr) untraced_kernels += kernels_in(trace, range);
  CHECK(untraced_kernels == 0);
}

TEST_CASE("duty: the seed decides which steps") {
  const auto steps = [](const char* seed) {
    return traced_steps(traced_run({"generate", "40"}, one_in("1/4", "2,1", seed)), "decode_step", 3);
  };
  CHECK(steps("1") == steps("1"));
  CHECK(steps("1") != steps("2"));
}

TEST_CASE("duty: a program that marks no step is traced as a whole") {
  const Trace trace = traced_run({"no-stage"}, one_in("1/10", "4"));
  CHECK(trace.kernels.size() == 20);
  CHECK_FALSE(trace.duty);
}

TEST_CASE("duty: what cannot be read is said, and all is traced") {
  for (const char* duty : {"0.1", "1/0", "1/20000", "1/10x"}) {
    ScratchFolder folder;
    const Outcome outcome = run_gpu({"generate", "10"}, folder.path(), one_in(duty, "4"));
    CHECK(outcome.err.find("NL_STAGE_DUTY is not 1/N") != std::string::npos);
    const Trace trace = read_folder(folder.path());
    CHECK_FALSE(trace.duty);
    CHECK(trace.kernels.size() == 5 + 3 * (2 + 10 * 3));
  }
  const Trace none = traced_run({"generate", "10"}, {{"NL_STAGE_DUTY", "1/10"}});
  CHECK_FALSE(none.duty);
  CHECK(none.kernels.size() == 5 + 3 * (2 + 10 * 3));
}

TEST_CASE("duty: steps of several threads at once are traced to their ends") {
  const Trace trace = traced_run({"generate-on-threads", "60"}, one_in("1/4", "4,1"));
  REQUIRE(trace.duty);
  const std::vector<bool> steps = traced_steps(trace, "decode_step", 3, 3);
  CHECK(steps.size() == 360);
  CHECK(count_of(steps) >= 4 + 80);
  CHECK(count_of(steps) < 360);
}

TEST_CASE("duty: of a process that ends at once in the middle of a row, what was written is traced") {
  for (const char* seed : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
    // 24 steps first, then one row of 24 of each two: the program ends inside one or the other.
    const Trace trace = traced_run({"generate-and-exit-now", "13"}, one_in("1/2", "24,1", seed), 4);
    REQUIRE(trace.duty);
    const TracedSpan& last = trace.duty->spans.back();
    if (trace.duty->spans.size() < 2) continue;
    Ns written = last.start_ns;
    for (const Kernel& kernel : trace.kernels) written = std::max(written, kernel.end_ns());
    for (const ApiCall& call : trace.api_calls) written = std::max(written, call.end_ns());
    CHECK(last.end_ns <= written);
    return;
  }
  FAIL("no seed chose the second row");
}

TEST_CASE("duty: a program that ends in the middle of a row has traced all of it") {
  std::size_t ended_inside = 0;
  for (const char* seed : {"1", "2", "3", "4", "5", "6"}) {
    const Trace trace = traced_run({"generate", "13"}, one_in("1/2", "24,1", seed));
    const std::vector<bool> steps = traced_steps(trace, "decode_step", 3);
    REQUIRE(steps.size() == 39);
    ended_inside += steps.back();
    CHECK(count_of(steps) == (steps.back() ? 39 : 24));
  }
  CHECK(ended_inside > 0);
  CHECK(ended_inside < 6);
}

TEST_CASE("duty: a fork in the middle of it harms neither parent nor child") {
  ScratchFolder folder;
  const Outcome outcome = run_gpu({"fork-while-opening", "200"}, folder.path(), one_in("1/3", "2,1"));
  CHECK(outcome.exit_status == 0);
  const Trace trace = read_folder(folder.path());
  REQUIRE(trace.duty);
  for (const TracedSpan& span : trace.duty->spans) CHECK(span.process == trace.duty->spans[0].process);
}
