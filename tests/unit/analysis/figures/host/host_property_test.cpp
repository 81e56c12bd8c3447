#include <map>
#include <random>
#include <set>

#include "analysis/account/launch_waits.h"
#include "analysis/figures/host/host_work.h"
#include "tests/catch.h"
#include "tests/unit/analysis/account/slow_judge.h"
#include "tests/unit/analysis/into_run.h"

using namespace nl;
using namespace nl::test;

namespace {

// Samples, collections and calls anywhere, on every thread.
class RandomHost {
 public:
  RandomHost(Trace& trace, unsigned seed) : trace_(trace), random_(seed) {
    trace.host.sampler = HostSampler::kPython;
    trace.host.frames = {{"main", "/m.py", "__main__", 3, 1, ""},
                         {"forward", "/m.py", "m", 9, 5, ""},
                         {"_call_impl", "/t.py", "torch.nn", 7, 2, ""},
                         {"main", "/m.py", "__main__", 4, 1, "x.item()"}};
    trace.host.stacks = {{0}, {0, 1}, {0, 1, 2}, {3, 1, 2, 1}, {3}};
    for (int i = below(600); i > 0; --i) {
      const Thread& thread = trace.threads[some_thread()];
      trace.host.samples.push_back({below(kEver), pid_of(thread), thread.tid, static_cast<std::uint32_t>(below(5))});
    }
    for (int i = below(6); i > 0; --i) {
      const Thread& thread = trace.threads[some_thread()];
      const Ns start = below(kEver);
      trace.host.collections.push_back({start, start + below(20), pid_of(thread), thread.tid, 0});
    }
    make_os_calls();
    std::stable_sort(trace.host.samples.begin(), trace.host.samples.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    std::stable_sort(trace.host.collections.begin(), trace.host.collections.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::size_t some_thread() { return static_cast<std::size_t>(below(static_cast<int>(trace_.threads.size()))); }
  std::uint32_t pid_of(const Thread& thread) const { return thread.process == kNone ? 0 : trace_.processes[thread.process].pid; }
  void make_os_calls() {
    for (int i = below(8); i > 0; --i) {
      ApiCall call;
      call.start_ns = below(kEver);
      call.duration_ns = static_cast<std::uint64_t>(below(30));
      call.thread = static_cast<std::uint32_t>(some_thread()) & 0xFFFFF;
      call.name = trace_.strings.intern(i % 2 == 0 ? "read" : "poll");
      trace_.os_calls.push_back(call);
    }
    std::stable_sort(trace_.os_calls.begin(), trace_.os_calls.end(), [](const ApiCall& a, const ApiCall& b) {
      return a.thread != b.thread ? a.thread < b.thread : a.start_ns < b.start_ns;
    });
  }

  Trace& trace_;
  std::mt19937 random_;
};

struct JudgedHost {
  std::map<HostWork, std::uint64_t> kinds;
  std::uint64_t samples = 0;
  std::set<std::size_t> collections;
  Ns collection_ns = 0, os_ns = 0;
};

// Each instant of each wait by itself.
JudgedHost judge(const Trace& trace, const std::vector<std::pair<Ns, std::uint32_t>>& waits) {
  JudgedHost out;
  const analysis::HostWorks works(trace.host.frames);
  for (const auto& [t, number] : waits) {
    const Thread& thread = trace.threads[number];
    const std::uint32_t pid = thread.process == kNone ? 0 : trace.processes[thread.process].pid;
    bool collecting = false;
    for (std::size_t i = 0; i < trace.host.collections.size() && pid != 0; ++i) {
      const GarbageCollection& garbage = trace.host.collections[i];
      if (garbage.pid != pid || t < garbage.start_ns || t >= garbage.end_ns) continue;
      collecting = true;
      ++out.collection_ns;
      out.collections.insert(i);
    }
    for (const HostSample& sample : trace.host.samples) {
      if (pid == 0 || sample.pid != pid || sample.tid != thread.tid || sample.time_ns != t) continue;
      ++out.samples;
      ++out.kinds[collecting ? HostWork::kGarbage : works.of_stack(trace.host.stacks[sample.stack])];
    }
    bool calls = false;
    for (const ApiCall& call : trace.os_calls) calls = calls || (call.thread == number && call.start_ns <= t && t < call.end_ns());
    out.os_ns += calls;
  }
  return out;
}

void check(const HostCode& code, const JudgedHost& judged, std::size_t waited) {
  REQUIRE(code.waited_ns == static_cast<Ns>(waited));
  REQUIRE(code.samples == judged.samples);
  REQUIRE(code.collections == judged.collections.size());
  REQUIRE(code.collection_ns == judged.collection_ns);
  Ns os_ns = 0, kind_ns = 0, line_ns = 0;
  for (const WaitCall& call : code.os_calls) os_ns += call.time_ns;
  REQUIRE(os_ns == judged.os_ns);
  std::map<HostWork, std::uint64_t> kinds;
  for (const HostWorkTime& kind : code.kinds) {
    kinds[kind.kind] = kind.samples;
    kind_ns += kind.time_ns.value_or(0);
    REQUIRE(kind.time_ns.has_value() == (code.samples >= kMinHostSamples));
  }
  REQUIRE(kinds == judged.kinds);
  std::uint64_t in_lines = 0;
  for (const HostLine& line : code.lines) {
    in_lines += line.samples;
    line_ns += line.time_ns.value_or(0);
    REQUIRE(line.samples_inside >= line.samples);
  }
  REQUIRE(in_lines == code.samples);
  if (code.samples < kMinHostSamples) return;
  REQUIRE(kind_ns == code.waited_ns);
  REQUIRE(line_ns == code.waited_ns);
}

}  // namespace

TEST_CASE("host code of random traces is what a look at every instant finds") {
  analysis::SummaryOptions options;
  options.warmup.mode = analysis::WarmupRule::Mode::kNone;
  std::size_t told = 0;
  for (unsigned seed = 0; seed < 250; ++seed) {
    INFO("seed " << seed);
    RandomTrace random(seed, static_cast<int>(seed % 3));
    RandomHost host(random.trace, seed);
    if (!analysis::HostWatch::worthwhile(random.trace)) continue;
    Run run;
    analysis::summarise(random.trace, options, run);
    const auto waits = SlowJudge(random.trace, options.warmup).starved();
    for (const StageEntry& stage : run.stages) {
      INFO(stage.name);
      REQUIRE(stage.host_code);
      const auto found = waits.find(stage.name);
      const auto waited = found != waits.end() ? found->second : std::vector<std::pair<Ns, std::uint32_t>>();
      check(*stage.host_code, judge(random.trace, waited), waited.size());
      told += stage.host_code->samples >= kMinHostSamples;
    }
  }
  CHECK(told > 20);  // else nothing was tried
}
