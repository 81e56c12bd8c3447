#include <map>
#include <random>
#include <set>

#include "tests/unit/analysis/figures/serving/serving_trace.h"

using namespace nl;

namespace {

// An engine of one or two workers that does at random what engines do: admits, chunks prompts, decodes, preempts, ends, loses its clients.
class RandomEngine : public ServingTrace {
 public:
  explicit RandomEngine(unsigned seed) : random_(seed) {}

  void run(int requests, int workers) {
    std::vector<std::uint32_t> threads = {0};
    if (workers > 1) threads.push_back(thread(0));
    std::vector<Ns> free_at(threads.size(), 0);
    Ns at = 0;
    for (int next = 1; next <= requests || !live_.empty();) {
      while (next <= requests && draw(3) == 0) arrive(next++, at, draw(static_cast<int>(threads.size())));
      const std::size_t worker = static_cast<std::size_t>(draw(static_cast<int>(threads.size())));
      at = std::max(at, free_at[worker]) + draw(50);
      free_at[worker] = step_of(static_cast<int>(worker), threads[worker], at);
      at += draw(30);
    }
    launch(free_at[0] + 5, free_at[0] + 6, 11);
  }

  struct Live {
    int worker = 0, prompt = 0, done = 0, tokens = 0;
    bool running = false;
  };
  std::map<int, std::pair<Ns, Ns>> there;  // from its arrival to its last text, as it was written
  Ns gpu_ns = 0;

 private:
  int draw(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  void arrive(int id, Ns at, int worker) {
    Live& live = live_[id];
    live.worker = worker;
    live.prompt = 1 + draw(40);
    arrived(id, at, live.prompt);
    if (draw(2) == 0) queued(id, at);
    there[id].first = at;
  }

  void leave(int id, Ns at, const char* reason) {
    finished(id, at, live_[id].tokens, reason);
    const Ns text_at = at + draw(20);
    detokenised(id, text_at);
    there[id].second = text_at;
    live_.erase(id);
  }

  Ns step_of(int worker, std::uint32_t thread, Ns at) {
    std::string entries;
    std::vector<int> ended;
    std::vector<int> ids;
    for (const auto& [id, live] : live_) ids.push_back(id);
    for (const int id : ids) {
      Live& live = live_[id];
      if (live.worker != worker) continue;
      if (draw(25) == 0) {
        leave(id, at, "cancelled");
        continue;
      }
      if (live.running && draw(12) == 0) {
        preempted(id, at, live.done);
        live.running = false;
        live.prompt += live.tokens;
        live.done = 0;
      }
      if (draw(3) == 0) continue;  // it has no turn
      live.running = true;
      const bool prefill = live.done < live.prompt;
      const int tokens = prefill ? std::min(1 + draw(16), live.prompt - live.done) : 1;
      live.done += tokens;
      live.tokens += live.done >= live.prompt ? 1 : 0;
      entries += fmt::format("{}{}:{}:{}", entries.empty() ? "" : ",", id, prefill ? "prefill" : "decode", tokens);
      if (live.tokens > 6 || draw(15) == 0) ended.push_back(id);
    }
    if (entries.empty()) return at;
    const Ns end = at + 2 + draw(100);
    step(entries, at + 1, end, thread);
    for (int i = draw(4); i > 0; --i) {
      const int time = 1 + draw(90);
      launch(at + 1, at + 2 + draw(20), static_cast<std::uint64_t>(time), thread);
      gpu_ns += time;
    }
    for (const int id : ended) leave(id, end + draw(3), draw(2) == 0 ? "stop" : "length");
    return end;
  }

  std::mt19937 random_;
  std::map<int, Live> live_;
};

}  // namespace

TEST_CASE("bill: whatever an engine does, all sums are exact") {
  std::set<ServingPart> seen;
  for (unsigned seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    RandomEngine engine(seed);
    engine.run(1 + static_cast<int>(seed % 40), 1 + static_cast<int>(seed % 2));
    const auto there = engine.there;
    const Ns gpu_ns = engine.gpu_ns;
    const Serving serving = engine.bill();
    REQUIRE(serving.requests.size() == there.size());
    ServingTimes sum;
    Ns alive_ns = 0, step_ns = 0, own_gpu_ns = 0;
    for (const ServingRequest& each : serving.requests) {
      const auto& [from, until] = there.at(static_cast<int>(each.id));
      REQUIRE(each.start_ns == from);
      REQUIRE(each.end_ns == until);
      REQUIRE(each.times.total() == until - from);
      alive_ns += until - from;
      step_ns += each.step.total();
      own_gpu_ns += each.gpu ? each.gpu->total() : 0;
      for (std::size_t i = 0; i < kServingParts; ++i) {
        REQUIRE(each.times.ns[i] >= 0);
        sum.ns[i] += each.times.ns[i];
        if (each.times.ns[i] > 0) seen.insert(static_cast<ServingPart>(i));
      }
    }
    REQUIRE(sum == serving.times);
    REQUIRE(sum.total() == alive_ns);
    Ns worker_steps_ns = 0;
    for (const ServingWorker& worker : serving.workers) {
      REQUIRE(worker.step_ns + worker.between_ns + worker.idle_ns == serving.window_ns());
      REQUIRE(worker.between_ns >= 0);
      REQUIRE(worker.idle_ns >= 0);
      worker_steps_ns += worker.step_ns;
    }
    REQUIRE(step_ns == worker_steps_ns);
    if (serving.gpu_step_ns) {
      REQUIRE(own_gpu_ns == *serving.gpu_step_ns);
      REQUIRE(*serving.gpu_step_ns + *serving.gpu_other_ns == gpu_ns + (serving.gpu_other_ns > 0 ? 11 : 0));
    }
    REQUIRE(serving.damage.empty());
  }
  CHECK(seen.size() == kServingParts - 1);  // all but the network
}

TEST_CASE("bill: a window that cuts requests still adds up") {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    RandomEngine engine(seed);
    engine.run(30, 2);
    // What lies before and behind is not in the capture.
    const Ns from = engine.trace.duration_ns / 4, until = engine.trace.duration_ns * 3 / 4;
    std::erase_if(engine.trace.marks, [&](const Mark& mark) { return mark.time_ns < from || mark.time_ns >= until; });
    std::erase_if(engine.trace.ranges, [&](const Range& range) { return range.start_ns < from || range.start_ns >= until; });
    for (Mark& mark : engine.trace.marks) mark.time_ns -= from;
    for (Range& range : engine.trace.ranges) range.start_ns -= from, range.end_ns = std::min(range.end_ns, until) - from;
    std::erase_if(engine.trace.ranges, [](const Range& range) { return range.end_ns <= range.start_ns; });
    engine.trace.kernels.clear();
    engine.trace.duration_ns = until - from;
    const Serving serving = engine.bill();
    ServingTimes sum;
    Ns step_ns = 0, worker_steps_ns = 0;
    for (const ServingRequest& each : serving.requests) {
      REQUIRE(each.times.total() == each.end_ns - each.start_ns);
      REQUIRE(each.start_ns >= serving.start_ns);
      REQUIRE(each.end_ns <= serving.end_ns);
      for (std::size_t i = 0; i < kServingParts; ++i) sum.ns[i] += each.times.ns[i];
      step_ns += each.step.total();
    }
    REQUIRE(sum == serving.times);
    for (const ServingWorker& worker : serving.workers) {
      REQUIRE(worker.step_ns + worker.between_ns + worker.idle_ns == serving.window_ns());
      worker_steps_ns += worker.step_ns;
    }
    REQUIRE(step_ns == worker_steps_ns);
    REQUIRE(serving.began_before > 0);
  }
}
