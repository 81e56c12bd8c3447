#include "analysis/replay/replay_graph.h"

#include <cmath>
#include <functional>
#include <tuple>

#include "analysis/replay/excerpt.h"
#include "analysis/replay/predict.h"
#include "analysis/staging/found/found.h"
#include "parsers/collector/trace.h"
#include "parsers/nsys/sqlite.h"
#include "tests/unit/analysis/trace_builder.h"
#include "tests/unit/unpacked.h"

using namespace nl;
using namespace nl::analysis;

namespace {

Trace staged_fixture(const std::string& name) {
  const std::filesystem::path file = std::filesystem::path(NL_FIXTURES) / name;
  Trace trace = name.ends_with(".nltrace.gz") ? parsers::read_collector_traces({Unpacked(file).file}) : parsers::read_nsys_sqlite(file);
  add_found_stages(trace, {});
  return trace;
}

WarmupRule every_window() {
  WarmupRule rule;
  rule.mode = WarmupRule::Mode::kNone;
  return rule;
}

double step_us(const TraceBuilder& program, const std::vector<NamedChange>& changes, const char* stage = "step") {
  const StagedTrace staged(program.trace, every_window());
  const Prediction prediction = Predictor(staged, {}).predict(stage, changes);
  INFO(static_cast<int>(prediction.refused.value_or(NoPrediction::kNoStage)));
  REQUIRE_FALSE(prediction.refused);
  return prediction.predicted_ns / 1e3;
}

std::optional<NoPrediction> refusal(const TraceBuilder& program, const NamedChange& change, const char* stage = "step") {
  const StagedTrace staged(program.trace, every_window());
  return Predictor(staged, {}).predict(stage, {change}).refused;
}

// Steps of `launches` launches, each 20 µs after the one before and 2 µs long itself; their kernels take `kernel_us` and begin 8 µs after their launch,
// or when the kernel before has ended. Then a wait, and `code_us` of the thread's own.
struct Steps : TraceBuilder {
  Steps(int launches, Ns kernel_us, Ns code_us, int steps = 10) : Steps(launches, kernel_us, [=](int) { return code_us; }, steps) {}
  Steps(int launches, Ns kernel_us, const std::function<Ns(int step)>& code_us, int steps) {
    constexpr Ns kUs = 1'000;
    Ns now = kUs, gpu = 0;
    for (int i = 0; i < steps; ++i) {
      const Ns start = now;
      for (int k = 0; k < launches; ++k) {
        now += 18 * kUs;
        gpu = std::max(now + 8 * kUs, gpu + kUs);
        kernel("work", gpu, static_cast<std::uint64_t>(kernel_us * kUs), call(now, 0, "cudaLaunchKernel", 2 * kUs));
        gpu += kernel_us * kUs;
        now += 2 * kUs;
      }
      const Ns until = std::max(now + 2 * kUs, gpu + 4 * kUs);
      wait(now + kUs, until);
      now = until + code_us(i) * kUs;
      stage("step", start, now);
    }
    trace.duration_ns = now;
  }
  // A sample of the function in the middle of each stretch of code after a wait.
  void sample_code(const char* function, Ns code_us, Ns period_ns) {
    trace.host.period_ns = period_ns;
    trace.host.frames = {{function, "app.py", "__main__", 3, 1, ""}, {"forward", "model.py", "model", 9, 7, ""}};
    trace.host.stacks = {{0}, {1}};
    for (const Range& range : trace.ranges)
      for (Ns at = range.end_ns - code_us * 1000 + period_ns / 2; at < range.end_ns; at += period_ns)
        trace.host.samples.push_back({at, 100, trace.threads[0].tid, 0});
  }
};

}  // namespace

TEST_CASE("replay: what was measured comes back, step by step, from captures of every kind") {
  struct Fixture {
    const char* file;
    const char* stage;
  };
  for (const Fixture& fixture : {Fixture{"h200-auto-marked/loop.nltrace.gz", "decode_step"},
                                 {"h200-auto-marked/compiled.nltrace.gz", "decode_step"},  // CUDA graphs, node by node
                                 {"h200-collector/llm-cuda-graph.nltrace.gz", "decode_step"},
                                 {"h200-collector/llm-cuda-whole-graph.nltrace.gz", "decode_step"},
                                 {"h200-unmarked/cuda-streams.nltrace.gz", "decode_step"},
                                 {"h200-unmarked/offload.nltrace.gz", "step"},
                                 {"h200-unmarked/train.nltrace.gz", "train_step"},  // two threads that take turns
                                 {"h200-llama/nsys.sqlite", "decode_step"},
                                 {"h200-probe/probe_node.sqlite", "decode_step"}}) {
    const Trace trace = staged_fixture(fixture.file);
    const StagedTrace staged(trace, {});
    const ReplayGraph graph = replay_graph(trace);
    const Replayed replayed = replay(graph);
    INFO(fixture.file);
    REQUIRE(graph.works.size() == trace.kernels.size() + trace.mem_ops.size() + trace.graph_runs.size());
    std::size_t windows = 0;
    for (const Window& window : staged.windows) {
      const auto time = [&](Ns moment) { return replayed_time(graph, replayed, window.thread, moment); };
      const auto wall = static_cast<double>(window.wall_ns());
      CHECK(std::abs(static_cast<double>(time(window.end_ns) - time(window.start_ns)) - wall) <= 1e-4 * wall + 2);  // 2 ns of rounding
      ++windows;
    }
    CHECK(windows > 0);
    // And without the delays that the trace does not explain.
    CHECK(Predictor(staged, {}).replay_error(fixture.stage) <= 0.02);
  }
}

TEST_CASE("replay: the graph of a part of the trace is the part of its graph") {
  for (const char* file : {"h200-auto-marked/loop.nltrace.gz", "h200-unmarked/cuda-streams.nltrace.gz", "h200-unmarked/train.nltrace.gz",
                           "h200-llama/nsys.sqlite"}) {
    INFO(file);
    const Trace trace = staged_fixture(file);
    const ReplayGraph whole = replay_graph(trace);
    const Ns begin = whole.works.front().start_ns, length = whole.works.back().start_ns - begin;
    const Ns from = begin + length / 3, to = begin + 2 * length / 3;
    const ReplayGraph expected = excerpt(whole, from, to),
                      part = excerpt(replay_graph(trace, from - length / 8, to + length / 8), from, to);
    REQUIRE(part.calls.size() == expected.calls.size());
    REQUIRE(part.works.size() == expected.works.size());
    CHECK(part.works.size() < whole.works.size() / 2);
    CHECK(part.first_call == expected.first_call);
    CHECK(part.waited == expected.waited);
    for (std::size_t i = 0; i < part.calls.size(); ++i) {
      const ReplayCall &call = part.calls[i], &same = expected.calls[i];
      REQUIRE(std::tuple(call.api, call.previous, call.handed_by, call.code_ns, call.own_ns, call.first_wait, call.waits) ==
              std::tuple(same.api, same.previous, same.handed_by, same.code_ns, same.own_ns, same.first_wait, same.waits));
    }
    for (std::size_t i = 0; i < part.works.size(); ++i) {
      const ReplayWork &work = part.works[i], &same = expected.works[i];
      REQUIRE(std::tuple(work.start_ns, work.duration_ns, work.call, work.before, work.row, work.queue, work.kind) ==
              std::tuple(same.start_ns, same.duration_ns, same.call, same.before, same.row, same.queue, same.kind));
    }
  }
}

TEST_CASE("replay: collectives of a part are those of the whole trace, counted from its beginning") {
  TraceBuilder program;
  const std::uint32_t other = program.queue(program.process(), 1, 7);
  const char* kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  for (Ns i = 0; i < 40; ++i) {
    program.kernel(kReduce, 1'000 * i + 50, 700, kNone);
    program.kernel(kReduce, 1'000 * i + 100, 650, kNone, other);
  }
  const ReplayGraph part = replay_graph(program.trace, 10'080, 20'080);  // of the second rank one before the first of the other
  REQUIRE(part.works.size() == 20);
  REQUIRE(part.collectives.size() == 9);
  for (const auto& members : part.collectives) CHECK(part.works[members[1]].start_ns == part.works[members[0]].start_ns + 50);
}

TEST_CASE("replay: a stage of a long trace is predicted from a part of it") {
  const Steps program(20, 3, 100, 200);
  const StagedTrace staged(program.trace, every_window());
  const Predictor whole(staged, {}), part(staged, {.most_works = 500, .around = "step"});
  const Prediction expected = whole.predict("step", {{"--graph step", StageAsGraph{"step"}}});
  const Prediction found = part.predict("step", {{"--graph step", StageAsGraph{"step"}}});
  CHECK(found.predicted_ns == Approx(expected.predicted_ns).epsilon(1e-3));
  CHECK(found.measured_ns == Approx(expected.measured_ns).epsilon(1e-3));
}

TEST_CASE("replay: of many windows that are long enough only some in the middle are replayed, of short ones more") {
  const auto measured_us = [](std::size_t launches) {  // of 300 steps, of which the 100 in the middle are quick
    const Steps program(static_cast<int>(launches), 3, [](int step) -> Ns { return step < 100 || step >= 200 ? 9'000 : 100; }, 300);
    const StagedTrace staged(program.trace, every_window());
    return Predictor(staged, {.most_works = 300 * launches - 1, .around = "step"}).predict("step", {}).measured_ns / 1e3;
  };
  CHECK(measured_us(400) < 9'000 + 400 * 20);  // 64 steps of 400 kernels are enough
  CHECK(measured_us(60) > 9'000 + 60 * 20);    // 299 steps of 60 are not
}

TEST_CASE("replay: launches that bind become one graph, and the user's own code stays") {
  const Steps program(20, 3, 100);
  // 20 launches of 20 µs, the wait of the last kernel, 100 µs of code.
  CHECK(step_us(program, {}) == Approx(513).epsilon(0.01));
  const double graph = step_us(program, {{"--graph step", StageAsGraph{"step"}}});
  // 18 µs of code before the first launch, 9 for the graph and its inputs, 20 kernels of 3 µs with 0.2 µs between, 100 µs of code.
  CHECK(graph == Approx(18 + 9 + 20 * 3 + 19 * 0.2 + 4 + 100).epsilon(0.02));
  CHECK(step_us(program, {{"--host-speed 2", FasterHost{2}}}) < 300);
  CHECK(step_us(program, {{"--kernel work=0.5", FasterKernels{"work", 0.5}}}) == Approx(511.5).epsilon(0.01));  // only the last one shows
}

TEST_CASE("replay: what a module does before its first launch goes with its graph, and what others do there stays") {
  Steps program(20, 3, 100, 40);
  HostSamples& host = program.trace.host;
  host.period_ns = 10'000;
  host.frames = {
      {"main", "app.py", "__main__", 3, 1, ""}, {"forward", "model.py", "model", 9, 7, ""}, {"audit", "app.py", "__main__", 30, 28, ""}};
  host.stacks = {{0, 1}, {0, 2}};
  const auto sample = [&](Ns at, std::uint32_t stack) { host.samples.push_back({at, 100, program.trace.threads[0].tid, stack}); };
  for (const Range& range : program.trace.ranges) {
    sample(range.start_ns + 5'000, 0);  // of the 18 µs before the first launch
    sample(range.start_ns + 13'000, 1);
    sample(range.start_ns + 205'000, 0);  // between launches
    sample(range.end_ns - 50'000, 1);
  }
  const double graph = step_us(program, {{"--graph step", StageAsGraph{"step"}}});
  CHECK(graph == Approx(18 / 2 + 9 + 20 * 3 + 19 * 0.2 + 4 + 100).epsilon(0.01));
}

TEST_CASE("replay: kernels of two streams that share the GPU take turns, and begin in the last moments of each other") {
  TraceBuilder program;
  const std::uint32_t other = program.queue(0, 0, 13);
  Ns now = 0;
  for (int i = 0; i < 10; ++i) {
    const Ns start = now;
    for (int k = 0; k < 12; ++k)
      program.kernel("gemm", start + 30'000 + k * 40'000, 40'500, program.call(start + 5'000 + 2'000 * k, 0, "cudaLaunchKernel", 1'000),
                     k % 2 == 0 ? 0 : other);
    program.wait(start + 40'000, start + 520'000, 0, "cudaDeviceSynchronize");
    now += 530'000;
    program.stage("step", start, now);
  }
  const StagedTrace staged(program.trace, every_window());
  CHECK(Predictor(staged, {}).replay_error("step") < 0.001);
  const double now_us = step_us(program, {}), half = step_us(program, {{"--kernel gemm=0.5", FasterKernels{"gemm", 0.5}}});
  CHECK(now_us == Approx(530));
  CHECK(half == Approx(530 - 12 * 20.25).epsilon(0.02));
}

TEST_CASE("replay: what a function does around its wait goes with the wait") {
  TraceBuilder program;
  HostSamples& host = program.trace.host;
  host.period_ns = 10'000;
  host.frames = {{"main", "app.py", "__main__", 3, 1, ""}, {"synchronize", "cuda.py", "torch.cuda", 9, 7, ""}};
  host.stacks = {{0}, {0, 1}};
  const auto sample = [&](Ns at, std::uint32_t stack) { host.samples.push_back({at, 100, program.trace.threads[0].tid, stack}); };
  Ns now = 0;
  for (int i = 0; i < 20; ++i) {
    const Ns start = now;
    program.launch(start + 50'000, start + 58'000, 10'000);
    sample(start + 20'000, 0);
    sample(start + 65'000, 1);  // 30 µs from the launch to the call that waits
    program.wait(start + 82'000, start + 90'000, 0, "cudaDeviceSynchronize");
    sample(start + 85'000, 1);
    now += 140'000;
    program.stage("step", start, now);
  }
  const double now_us = step_us(program, {}), then = step_us(program, {{"--without-wait", WithoutWait{"cudaDeviceSynchronize"}}});
  CHECK(now_us == Approx(140));
  CHECK(then == Approx(140 - 30 - (8 - 1.5)).margin(2.5));  // 1.5 µs: a wait for nothing
}

TEST_CASE("replay: where the GPU binds, only its work counts") {
  const Steps program(20, 50, 10);
  const double now = step_us(program, {});
  CHECK(now > 1000);
  CHECK(step_us(program, {{"--graph step", StageAsGraph{"step"}}}) > 0.97 * now);
  CHECK(step_us(program, {{"--kernel work=0.8", FasterKernels{"work", 0.8}}}) == Approx(now - 20 * 10).epsilon(0.01));
  const StagedTrace staged(program.trace, every_window());
  CHECK(Predictor(staged, {}).predict("step", {}).binds == Binding::kGpu);
}

TEST_CASE("replay: without a wait the next launches overlap with the work before them") {
  const Steps program(10, 30, 100);
  const double now = step_us(program, {}), then = step_us(program, {{"--without-wait", WithoutWait{"cudaStreamSynchronize"}}});
  CHECK(now == Approx(18 + 8 + 10 * 30 + 9 + 4 + 100).epsilon(0.02));
  CHECK(then == Approx(10 * 31).epsilon(0.03));  // the GPU's work alone: it always has the next step
  CHECK(refusal(program, {"--without-wait", WithoutWait{"cudaEventSynchronize"}}) == NoPrediction::kNothingToChange);
}

TEST_CASE("replay: the time of a sampled function goes, wherever its samples fall") {
  Steps program(10, 3, 100, 40);
  CHECK(refusal(program, {"--host audit=0", FasterFunction{"audit", 0}}) == NoPrediction::kNoStacks);
  program.sample_code("audit", 100, 25'000);
  const double now = step_us(program, {});
  CHECK(step_us(program, {{"--host audit=0", FasterFunction{"audit", 0}}}) ==
        Approx(now - 100).margin(3));  // no call follows the last of forty
  CHECK(step_us(program, {{"--host audit=0.5", FasterFunction{"audit", 0.5}}}) == Approx(now - 50).margin(2));
  // Few samples say little of a time.
  const auto width = [](const Steps& steps) {
    const StagedTrace staged(steps.trace, every_window());
    const Prediction prediction = Predictor(staged, {}).predict("step", {{"--host audit=0", FasterFunction{"audit", 0}}});
    return prediction.high_ns / prediction.low_ns;
  };
  Steps seldom(10, 3, 100, 40);
  seldom.sample_code("audit", 100, 25'000);
  seldom.trace.host.samples.resize(4);
  CHECK(width(seldom) > 1.2 * width(program));
  CHECK(refusal(program, {"--host other=0", FasterFunction{"other", 0}}) == NoPrediction::kNothingToChange);
}

TEST_CASE("replay: a function on another thread hides behind the step, unless it is longer") {
  Steps program(10, 3, 100, 40), long_one(10, 3, 900, 40);
  const NamedChange async{"--async audit", AsyncFunction{"audit"}};
  CHECK(refusal(program, async) == NoPrediction::kNoStacks);
  program.sample_code("audit", 100, 25'000);
  CHECK(step_us(program, {async}) == Approx(step_us(program, {{"--host audit=0", FasterFunction{"audit", 0}}})));
  long_one.sample_code("audit", 900, 25'000);
  CHECK(step_us(long_one, {async}) == Approx(900).epsilon(0.03));  // no call follows the last of forty
}

TEST_CASE("replay: the waits of one line are found by the samples in them") {
  // Each step waits twice: for its first half at model.py:9, which few of the samples show, and for its end at app.py:3.
  TraceBuilder program;
  Ns now = 0;
  program.trace.host.period_ns = 100'000;
  program.trace.host.frames = {{"main", "/src/app.py", "__main__", 3, 1, ""}, {"forward", "/src/model.py", "model", 9, 7, ""}};
  program.trace.host.stacks = {{0}, {0, 1}};
  for (int i = 0; i < 12; ++i) {
    const Ns start = now;
    for (const std::uint32_t stack : {1u, 0u}) {
      program.launch(now + 10'000, now + 18'000, 100'000);
      program.wait(now + 13'000, now + 120'000);
      if (i % 3 == 0) program.trace.host.samples.push_back({now + 60'000, 100, program.trace.threads[0].tid, stack});
      now += 130'000;
    }
    program.stage("step", start, now);
  }
  const double now_us = step_us(program, {}), without = step_us(program, {{"--without-wait", WithoutWait{"model.py:9"}}});
  CHECK(now_us == Approx(260));
  CHECK(without < 245);  // the second launch is queued behind the first one's work
  CHECK(without > 200);  // both works are still there
  CHECK(refusal(program, {"--without-wait", WithoutWait{"model.py:10"}}) == NoPrediction::kNothingToChange);
}

TEST_CASE("replay: changes that are made together save no more than there is") {
  Steps program(20, 3, 100, 40);
  program.sample_code("audit", 100, 25'000);
  const NamedChange graph{"--graph step", StageAsGraph{"step"}}, host{"--host audit=0", FasterFunction{"audit", 0}};
  const double now = step_us(program, {}), both = step_us(program, {host, graph});
  CHECK(both == Approx(now - (now - step_us(program, {graph})) - 100).margin(5));
  CHECK(both > 60);  // the kernels are still there
  const StagedTrace staged(program.trace, every_window());
  const auto sequence = Predictor(staged, {}).best_sequence("step", {host, graph});
  REQUIRE(sequence.size() >= 2);
  CHECK(sequence[0].changes == std::vector<std::string>{"--graph step"});
  CHECK(sequence[1].changes == std::vector<std::string>{"--graph step", "--host audit=0"});
  const Predictor predictor(staged, {});
  const auto ranked = predictor.ranked("step", predictor.candidates("step"));
  REQUIRE_FALSE(ranked.empty());
  CHECK(ranked[0].changes == std::vector<std::string>{"--graph step"});
  CHECK(ranked[0].low_ns < ranked[0].predicted_ns);
  CHECK(ranked[0].high_ns > ranked[0].predicted_ns);
}

TEST_CASE("replay: the tracer's part of each launch is taken out") {
  const Steps program(20, 3, 100);
  const StagedTrace staged(program.trace, every_window());
  const Prediction prediction = Predictor(staged, {3'000, 5'000}).predict("step", {});
  CHECK(prediction.measured_ns / 1e3 == Approx(513).epsilon(0.01));
  CHECK(prediction.unperturbed_ns / 1e3 == Approx(513 - 20 * 4).epsilon(0.02));
  // The less is known of that part, the wider is the interval.
  const auto width = [&](double low_ns, double high_ns) {
    const Prediction each = Predictor(staged, {low_ns, high_ns}).predict("step", {});
    return each.high_ns / each.low_ns;
  };
  CHECK(width(1'000, 7'000) > 1.1 * width(3'900, 4'100));
}

TEST_CASE("replay: a copy of pinned memory is only queued") {
  TraceBuilder program;
  Ns now = 0;
  for (int i = 0; i < 10; ++i) {
    const Ns start = now;
    MemOp& copy = program.copy(MemOpKind::kHostToDevice, now + 10'000, now + 1'010'000, program.call(now, 0, "cudaMemcpyAsync", 1'000'000));
    copy.bytes = 10'000'000;  // 0.2 ms at 50 bytes a nanosecond
    copy.src_kind = 1;
    program.wait(now + 1'001'000, now + 1'015'000);
    now += 1'020'000;
    program.stage("step", start, now);
  }
  CHECK(step_us(program, {}) == Approx(1020));
  CHECK(step_us(program, {{"--pinned", PinnedCopies{}}}) == Approx(10 + 200 + 5 + 5).epsilon(0.05));
}

TEST_CASE("replay: neighbours that are fused are launched once and take as long as the longest") {
  TraceBuilder program;
  Ns now = 0;
  for (int i = 0; i < 10; ++i) {
    const Ns start = now;
    for (const std::uint64_t duration : {2'000, 5'000, 3'000}) {
      program.kernel("vectorized_elementwise_kernel", now + 8'000, duration, program.call(now, 0, "cudaLaunchKernel", 2'000));
      now += 20'000;
    }
    program.wait(now, now + 1'000);
    now += 2'000;
    program.stage("step", start, now);
  }
  CHECK(step_us(program, {}) == Approx(62));
  CHECK(step_us(program, {{"--fuse elementwise", FusedElementwise{}}}) < 25);
  CHECK(refusal(program, {"--pinned", PinnedCopies{}}) == NoPrediction::kNothingToChange);
  CHECK(refusal(program, {"--graph other", StageAsGraph{"other"}}) == NoPrediction::kNoStage);
}

TEST_CASE("replay: a thread that waits for another one goes on when that does") {
  // The main thread hands over to thread 1 (as autograd does), which launches for 400 µs, and goes on 5 µs after its last call.
  TraceBuilder program;
  Ns now = 0;
  for (int i = 0; i < 10; ++i) {
    const Ns start = now;
    program.launch(now, now + 8'000, 1'000, 0);
    for (int k = 0; k < 20; ++k) program.launch(now + 30'000 + k * 20'000, now + 38'000 + k * 20'000, 1'000, 1);
    program.launch(now + 30'000 + 19 * 20'000 + 5'000, now + 450'000, 1'000, 0);
    now += 460'000;
    program.stage("step", start, now, 0);
  }
  std::stable_sort(program.trace.api_calls.begin(), program.trace.api_calls.end(), [](const ApiCall&, const ApiCall&) { return false; });
  const double now_us = step_us(program, {});
  CHECK(now_us == Approx(460));
  CHECK(step_us(program, {{"--host-speed 2", FasterHost{2}}}) < 0.6 * now_us);
}

TEST_CASE("replay: ranks go on together after a collective") {
  TraceBuilder program;
  const std::uint32_t other = program.process(), thread = program.thread(other), queue = program.queue(other, 1, 7);
  Ns now = 0;
  for (int i = 0; i < 10; ++i) {
    program.stage("step", now, now + 200'000, 0);
    const char* kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
    program.kernel("gemm", now + 10'000, 50'000, program.call(now, 0));
    program.kernel(kReduce, now + 61'000, 109'000, program.call(now + 20'000, 0));  // waits for the other rank until 160
    program.kernel("gemm", now + 10'000, 149'000, program.call(now, thread), queue);
    program.kernel(kReduce, now + 160'000, 10'000, program.call(now + 20'000, thread), queue);
    program.wait(now + 30'000, now + 175'000, 0, "cudaDeviceSynchronize");
    program.wait(now + 30'000, now + 175'000, thread, "cudaDeviceSynchronize");
    now += 200'000;
  }
  const double now_us = step_us(program, {});
  CHECK(now_us == Approx(200));
  CHECK(step_us(program, {{"--kernel gemm=0.5", FasterKernels{"gemm", 0.5}}}) == Approx(200 - 74.5).epsilon(0.03));
}

TEST_CASE("replay: waits of two processes with the same number are told apart") {
  TraceBuilder program;
  const std::uint32_t other = program.process(), thread = program.thread(other), queue = program.queue(other, 0, 13);
  Ns now = 0;
  for (std::uint32_t i = 0; i < 10; ++i) {
    program.stage("step", now, now + 200'000, 0);
    program.kernel("slow", now + 10'000, 100'000, program.call(now, 0));
    program.kernel("quick", now + 10'000, 1'000, program.call(now, thread), queue);
    const auto wait = [&](std::uint32_t of, std::uint32_t where, Ns end) {
      program.wait(now + 5'000, end, of);
      program.trace.api_calls.back().correlation = i;
      program.trace.syncs.push_back({now + 5'000, end, program.trace.queues[where], i, 0, SyncKind::kStream});
    };
    wait(0, 0, now + 115'000);
    wait(thread, queue, now + 15'000);
    now += 200'000;
  }
  CHECK(step_us(program, {}) == Approx(200));
  CHECK(step_us(program, {{"--kernel slow=0.5", FasterKernels{"slow", 0.5}}}) == Approx(150).epsilon(0.02));
}
