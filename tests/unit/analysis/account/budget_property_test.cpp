#include "tests/catch.h"
#include "tests/unit/analysis/account/slow_judge.h"
#include "tests/unit/analysis/into_run.h"

using namespace nl::test;
using nl::Ns;

namespace {

// Each GPU of a stage against the judge's.
void check_devices(const nl::Trace& trace, const nl::StageEntry& stage, const SlowJudge::Lanes& lanes) {
  std::size_t seen = 0;
  for (const auto& [lane, slow] : lanes) {
    if (lane.second == SlowJudge::kNowhere || slow.budget.wall_ns == 0) continue;
    INFO("process " << lane.first << ", GPU " << lane.second);
    const std::uint32_t pid = lane.first < trace.processes.size() ? trace.processes[lane.first].pid : 0;
    const auto device = std::find_if(stage.devices.begin(), stage.devices.end(),
                                     [&](const auto& each) { return each.pid == pid && each.device == lane.second; });
    REQUIRE(device != stage.devices.end());
    ++seen;
    REQUIRE(sound(device->budget));
    REQUIRE(bins(device->budget) == bins(slow.budget));
    REQUIRE(device->busy_ns == slow.budget.busy_ns());
    REQUIRE(device->overlapped_communication_ns == slow.overlapped_ns);
    REQUIRE(device->kernel_sum_ns == slow.kernel_sum_ns);
    std::size_t kinds = 0;
    for (const auto& each : stage.communication) {
      if (each.pid != pid || each.device != lane.second) continue;
      ++kinds;
      REQUIRE(slow.talk.count(each.kind) == 1);
      const auto& talk = slow.talk.at(each.kind);
      REQUIRE(each.count == talk.count);
      REQUIRE(each.sum_ns == talk.sum);
      REQUIRE(each.time_ns == talk.time);
      REQUIRE(each.exposed_ns == talk.exposed);
      REQUIRE(each.bytes.has_value() == (each.kind == nl::Collective::kPeerCopy));
      if (each.bytes) REQUIRE(*each.bytes == talk.bytes);
      REQUIRE(each.late_peer_ns.has_value() == (talk.paired && talk.count > 0));
      if (!each.late_peer_ns) continue;
      REQUIRE(*each.late_peer_ns == talk.late);
      REQUIRE(*each.late_peer_ns + *each.transfer_ns == talk.sum);
      REQUIRE(*each.last_arrivals == talk.last);
    }
    REQUIRE(kinds == slow.talk.size());
  }
  REQUIRE(seen == stage.devices.size());
}

// The waits for launches of all its GPUs, told by what the host did.
void check_launch_waits(const nl::StageEntry& stage) {
  const nl::LaunchWaits& waits = *stage.launch_waits;
  Ns starved = 0, latency = 0, late_starved = 0, late_latency = 0, calls = waits.outside_calls_ns;
  for (const auto& device : stage.devices) {
    starved += device.budget.launch_starved_ns;
    latency += device.budget.launch_latency_ns;
  }
  for (const auto& each : waits.late) {
    late_starved += each.starved_ns;
    late_latency += each.latency_ns;
  }
  for (const auto& each : waits.calls) calls += each.time_ns;
  REQUIRE(waits.starved_ns == starved);
  REQUIRE(waits.latency_ns == latency);
  REQUIRE(late_starved == starved);
  REQUIRE(late_latency == latency);
  REQUIRE(calls >= starved);  // more: what a thread did that is not the stage's, while the stage's waited
}

// A random trace as we and as the judge see it.
struct Judged {
  Judged(const RandomTrace& random, unsigned seed)
      : options(options_of(seed)), judge(random.trace, options.warmup), stages(judge.stages()) {
    nl::analysis::summarise(random.trace, options, run);
  }
  static nl::analysis::SummaryOptions options_of(unsigned seed) {
    nl::analysis::SummaryOptions options;
    if (seed % 3 == 0) options.warmup.mode = nl::analysis::WarmupRule::Mode::kNone;
    return options;
  }
  // And takes it from those that are left.
  void check_stage(const RandomTrace& random, const nl::StageEntry& stage) {
    REQUIRE(stage.budget);
    REQUIRE(sound(*stage.budget));
    REQUIRE(stage.budget->wall_ns == stage.wall.total_ns);
    REQUIRE(is_mean(*stage.budget, stages[stage.name]));
    check_devices(random.trace, stage, stages[stage.name]);
    check_launch_waits(stage);
    stages.erase(stage.name);
  }
  const nl::analysis::SummaryOptions options;
  const SlowJudge judge;
  std::map<std::string, SlowJudge::Lanes> stages;
  nl::Run run;
};

}  // namespace

TEST_CASE("budgets close, and agree with a judge that looks at every nanosecond") {
  std::size_t stages = 0, phases = 0;
  nl::Budget met;  // so that no bin goes untested
  std::set<std::string> phase_names;
  for (unsigned seed = 1; seed <= 600; ++seed) {
    const RandomTrace random(seed);
    Judged judged(random, seed);
    const nl::Run& run = judged.run;
    for (const auto& stage : run.stages) {
      INFO("seed " << seed << ", stage " << stage.name);
      const SlowJudge::Lanes expected = judged.stages[stage.name];
      judged.check_stage(random, stage);
      if (random.linked()) REQUIRE(stage.budget->residual_ns == 0);
      if (expected.size() == 1) REQUIRE(bins(*stage.budget) == bins(expected.begin()->second.budget));
      ++stages;
      met.exposed_copy_ns += stage.budget->exposed_copy_ns;
      met.queue_wait_ns += stage.budget->queue_wait_ns;
      met.sync_blocked_ns += stage.budget->sync_blocked_ns;
      met.launch_starved_ns += stage.budget->launch_starved_ns;
      met.launch_latency_ns += stage.budget->launch_latency_ns;
      met.other_host_ns += stage.budget->other_host_ns;
      met.residual_ns += stage.budget->residual_ns;
    }
    CHECK(judged.stages.empty());
    auto expected_phases = judged.judge.phases();
    Ns span = 0;
    for (const auto& phase : run.phases.phases) {
      INFO("seed " << seed << ", phase " << phase.name);
      REQUIRE(phase.budget);
      REQUIRE(sound(*phase.budget));
      REQUIRE(phase.budget->wall_ns == phase.wall_ns);
      if (random.linked()) REQUIRE(phase.budget->residual_ns == 0);
      REQUIRE(is_mean(*phase.budget, expected_phases[phase.name]));
      expected_phases.erase(phase.name);
      span += phase.wall_ns;
      ++phases;
      phase_names.insert(phase.name);
    }
    INFO("seed " << seed);
    CHECK(expected_phases.empty());
    CHECK(span == run.phases.span_ns);
  }
  CHECK(stages > 1000);
  CHECK(phases > 1000);
  for (const Ns bin : {met.exposed_copy_ns, met.queue_wait_ns, met.sync_blocked_ns, met.launch_starved_ns, met.launch_latency_ns,
                       met.other_host_ns, met.residual_ns})
    CHECK(bin > 100);
  for (const char* name : {"prefill", "decode", "mixed", "idle", "vision", "request"}) CHECK(phase_names.count(name) == 1);
}

TEST_CASE("timelines of random traces overlap nowhere and stay inside their view") {
  std::size_t slices = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const RandomTrace random(seed);
    nl::Run run;
    nl::analysis::summarise(random.trace, {}, run);
    if (!run.timeline) continue;
    INFO("seed " << seed);
    for (const auto& lane : run.timeline->lanes) {
      Ns until = run.timeline->start_ns;
      REQUIRE_FALSE(lane.slices.empty());
      for (const auto& slice : lane.slices) {
        REQUIRE(slice.start_ns >= until);
        REQUIRE(slice.duration_ns >= 0);
        REQUIRE(slice.name < run.timeline->names.size());
        until = slice.start_ns + slice.duration_ns;
        ++slices;
      }
      REQUIRE(until <= run.timeline->end_ns);
    }
  }
  CHECK(slices > 1000);
}

TEST_CASE("budgets of several GPUs and ranks, and their communication, agree with the judge for each GPU") {
  std::size_t lanes = 0, shared = 0, paired = 0, unpaired = 0;
  Ns exposed = 0, overlapped = 0, late = 0, last = 0;
  for (unsigned seed = 1; seed <= 900; ++seed) {
    const RandomTrace random(seed, 1 + static_cast<int>(seed % 4));
    Judged judged(random, seed);
    for (const auto& stage : judged.run.stages) {
      INFO("seed " << seed << ", stage " << stage.name);
      judged.check_stage(random, stage);
      lanes += stage.devices.size();
      shared += stage.gpu_spread.has_value();
      for (const auto& each : stage.communication) {
        (each.late_peer_ns ? paired : unpaired) += 1;
        exposed += each.exposed_ns;
        overlapped += each.time_ns - each.exposed_ns;
        late += each.late_peer_ns.value_or(0);
        last += static_cast<Ns>(each.last_arrivals.value_or(0));
      }
    }
    CHECK(judged.stages.empty());
  }
  CHECK(lanes > 3000);
  CHECK(shared > 375);
  for (const std::size_t met : {paired, unpaired}) CHECK(met > 110);
  for (const Ns met : {exposed, overlapped, late, last}) CHECK(met > 375);
}
