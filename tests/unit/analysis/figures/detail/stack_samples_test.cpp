#include "analysis/figures/detail/stack_samples.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/figures/detail/detail.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/analysis/trace_builder.h"

using nl::DetailSamples;
using nl::Ns;
using nl::analysis::listed_samples;

namespace {

constexpr std::uint32_t kPid = 100;

// main calls put, which runs the program's own audit, or a model's forward.
struct Sampled {
  TraceBuilder b;
  nl::HostSamples& host = b.trace.host;

  Sampled() {
    host.sampler = nl::HostSampler::kPython;
    host.period_ns = 10;
    host.frames = {
        {"main", "/home/me/serve.py", "__main__", 3, 1, ""},
        {"put", "/home/me/serve.py", "__main__", 22, 20, ""},
        {"audit", "/home/me/serve.py", "__main__", 10, 8, ""},
        {"Norm.forward", "/usr/lib/python3/dist-packages/transformers/modeling_llama.py", "transformers.models.llama", 66, 60, ""},
        {"Module.__call__", "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", "torch.nn.modules.module", 99, 90, ""}};
    host.stacks = {{0, 1, 2}, {0, 3, 4}, {0, 1}, {}};
  }
  void sample(Ns at, std::uint32_t stack, std::uint32_t tid) { host.samples.push_back({at, kPid, tid, stack}); }
};

// "main < put", from the innermost kept frame outwards.
std::string way_up(const DetailSamples& samples, std::uint32_t stack) {
  std::string out;
  for (std::uint32_t node = samples.stacks.at(stack).node; node != nl::kNone; node = samples.nodes.at(node).parent)
    out += (out.empty() ? "" : " < ") + samples.frames.at(samples.nodes.at(node).frame).function;
  return out;
}

std::string told_by(const DetailSamples& samples, std::uint32_t stack) {
  const nl::DetailFrame& frame = samples.frames.at(samples.stacks.at(stack).named);
  return frame.function + " " + frame.file + ":" + std::to_string(frame.line);
}

}  // namespace

TEST_CASE("sampled stacks are ways up one tree, told by the program's own code or by the line that calls") {
  Sampled s;
  const std::uint32_t tid = s.b.trace.threads[0].tid;
  for (const auto& [at, stack] : {std::pair<Ns, std::uint32_t>{10, 0}, {20, 1}, {30, 0}, {40, 2}, {50, 3}, {200, 0}})
    s.sample(at, stack, tid);
  s.sample(15, 2, 7777);  // a thread that the trace does not list
  const DetailSamples found = listed_samples(s.b.trace, {0, 100}, {{0, 100}}, {});
  CHECK(found.in_all == 5);  // one has no frames, one comes after the capture
  CHECK(found.every == 1);
  REQUIRE(found.threads.size() == 2);
  CHECK(found.threads[0].tid == tid);
  CHECK(found.threads[1].title == "process 100 thread 7777");
  using List = std::vector<std::pair<Ns, std::uint32_t>>;
  CHECK(found.threads[0].samples == List{{10, 0}, {20, 1}, {30, 0}, {40, 2}});
  CHECK(found.threads[1].samples == List{{15, 2}});
  CHECK(way_up(found, 0) == "audit < put < main");
  CHECK(way_up(found, 1) == "Module.__call__ < Norm.forward < main");
  CHECK(way_up(found, 2) == "put < main");
  CHECK(told_by(found, 0) == "audit serve.py:10");
  CHECK(told_by(found, 1) == "Norm.forward modeling_llama.py:66");
  CHECK(told_by(found, 2) == "put serve.py:22");
  CHECK(found.nodes.size() == 5);  // main and put stand once
  for (std::uint32_t i = 0; i < found.nodes.size(); ++i)
    if (found.nodes[i].parent != nl::kNone) CHECK(found.nodes[i].parent < i);
}

TEST_CASE("of too many samples those in windows stay, and of the others one in so many of each thread") {
  Sampled s;
  const std::uint32_t tid = s.b.trace.threads[0].tid, other = s.b.trace.threads[1].tid;
  for (Ns i = 0; i < 1000; ++i) {
    s.sample(10 * i, 0, tid);
    s.sample(10 * i + 1, 2, other);
  }
  const DetailSamples found = listed_samples(s.b.trace, {0, 10'000}, {{4000, 5000}}, {.samples = 650, .nodes = 100});
  CHECK(found.in_all == 2000);
  CHECK(found.every == 4);  // 1800 of them for 450 places
  for (const auto& thread : found.threads) {
    Ns inside = 0, outside = 0;
    for (const auto& [at, stack] : thread.samples) ++(at >= 4000 && at < 5000 ? inside : outside);
    CHECK(inside == 100);
    CHECK(outside == 225);
  }
  const DetailSamples few = listed_samples(s.b.trace, {0, 10'000}, {{0, 10'000}}, {.samples = 100, .nodes = 100});
  CHECK(few.every == 20);  // the windows alone have too many
  CHECK(few.threads[0].samples.size() == 50);
}

TEST_CASE("a tree of stacks that is full ends further out, and still names the frame that tells it") {
  Sampled s;
  const std::uint32_t tid = s.b.trace.threads[0].tid;
  s.sample(10, 2, tid);
  s.sample(20, 0, tid);
  s.sample(30, 1, tid);
  const DetailSamples found = listed_samples(s.b.trace, {0, 100}, {{0, 100}}, {.samples = 100, .nodes = 2});
  CHECK(found.nodes.size() == 2);
  CHECK(way_up(found, 1) == "put < main");
  CHECK(told_by(found, 1) == "audit serve.py:10");
  CHECK(way_up(found, 2) == "main");
}

TEST_CASE("a detail knows the unit of its run, and the gaps that come again in each stage") {
  TraceBuilder b;
  for (Ns step = 0; step < 6; ++step) {
    const Ns at = step * 1'000'000;
    b.stage("decode_step", at, at + 900'000);
    b.kernel("first", at + 20'000, 100'000, b.call(at + 1000));
    b.kernel("second", at + 520'000, 100'000, b.call(at + 510'000));  // after 400 µs, in each step
  }
  nl::Run run;
  nl::analysis::summarise(b.trace, {}, run);
  run.workload.verdict.unit_stage = "decode_step";
  nl::Detail detail = nl::analysis::make_detail(b.trace, {}, {});
  nl::analysis::add_run_parts(run, detail);
  REQUIRE(detail.unit_stage < detail.stages.size());
  CHECK(detail.stages[detail.unit_stage] == "decode_step");
  const auto found = std::find_if(detail.gaps.begin(), detail.gaps.end(),
                                  [&](const nl::DetailGap& each) { return each.stage == detail.unit_stage && each.gap.after == "second"; });
  REQUIRE(found != detail.gaps.end());
  CHECK(found->of_windows >= 5);
  CHECK(found->gap.windows == found->of_windows);
  CHECK(found->gap.before == "first");
  CHECK(found->gap.budget.wall_ns == static_cast<Ns>(found->of_windows) * 400'000);
}

TEST_CASE("a bucket of the GPU has the kind with most of its time, not that of its longest kernel") {
  TraceBuilder b;
  b.stage("decode_step", 0, 1'000'000);
  Ns at = 1000;
  const auto add = [&](const char* name, Ns duration) {
    b.kernel(name, at, static_cast<std::uint64_t>(duration), b.call(at - 500));
    at += duration + 1000;
  };
  add("flash_fwd_kernel", 5000);
  for (int i = 0; i < 3; ++i) add("ampere_sgemm_128x64_tn", 3000);
  nl::analysis::DetailLimits limits;
  limits.buckets = 1;
  const nl::Detail detail = nl::analysis::make_detail(b.trace, {}, {}, limits);
  for (std::size_t lane = 0; lane < detail.lanes.size(); ++lane) {
    if (detail.lanes[lane].kind != nl::LaneKind::kGpu) continue;
    REQUIRE(detail.overview.lanes[lane].size() == 1);
    CHECK(detail.names[detail.overview.lanes[lane][0].name] == "flash_fwd_kernel");
    CHECK(detail.overview.lanes[lane][0].kind == nl::KernelClass::kGemm);
  }
}
