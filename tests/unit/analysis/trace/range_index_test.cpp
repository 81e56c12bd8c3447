#include "analysis/trace/range_index.h"

#include <algorithm>
#include <random>
#include <set>

#include "analysis/nsys_stats/range_work.h"
#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

namespace {

void add_range(Trace& trace, Ns start, Ns end, std::uint32_t thread = 0, std::uint32_t end_thread = kNone, bool open = false) {
  Range range;
  range.start_ns = start;
  range.end_ns = end;
  range.thread = thread;
  range.end_thread = end_thread;
  range.open = open;
  trace.ranges.push_back(range);
}

ApiCall call_at(Ns start, Ns end, std::uint32_t thread = 0) {
  ApiCall call;
  call.start_ns = start;
  call.duration_ns = static_cast<std::uint64_t>(end - start);
  call.thread = thread;
  return call;
}

std::vector<std::uint32_t> enclosing(const RangeIndex& index, const ApiCall& call) {
  std::vector<std::uint32_t> found;
  index.enclosing(call, found);
  return found;
}

Trace random_trace(std::uint32_t seed, bool nested) {
  std::mt19937 random(seed);
  Trace trace;
  trace.threads.resize(3);
  for (int i = 0; i < 300; ++i) {
    Ns start = static_cast<Ns>(random() % 1000);
    Ns length = nested ? (start % 7 == 0 ? 100 : 10) : static_cast<Ns>(random() % 200);
    add_range(trace, nested ? start / 100 * 100 + (length == 10 ? start % 90 : 0) : start, 0, random() % 3, random() % 10 == 0 ? 1 : kNone);
    trace.ranges.back().end_ns = trace.ranges.back().start_ns + length;
  }
  for (int i = 0; i < 2000; ++i) {
    Ns start = static_cast<Ns>(random() % 1100);
    trace.api_calls.push_back(call_at(start, start + static_cast<Ns>(random() % 20), random() % 3));
  }
  std::sort(trace.api_calls.begin(), trace.api_calls.end(),
            [](const ApiCall& a, const ApiCall& b) { return a.thread != b.thread ? a.thread < b.thread : a.start_ns < b.start_ns; });
  for (std::uint32_t i = 0; i < 3000; ++i) {
    Kernel kernel;
    kernel.api = random() % 50 == 0 ? kNone : static_cast<std::uint32_t>(random() % trace.api_calls.size());
    trace.kernels.push_back(kernel);
    MemOp op;
    op.api = kernel.api;
    if (i % 10 == 0) trace.mem_ops.push_back(op);
  }
  return trace;
}

bool encloses(const Range& range, const ApiCall& call) {
  return range.thread == call.thread && range.end_thread == kNone && range.start_ns <= call.start_ns && range.end_ns >= call.end_ns();
}

}  // namespace

TEST_CASE("enclosing ranges come outermost first, edges included") {
  Trace trace;
  trace.threads.resize(2);
  add_range(trace, 20, 30);
  add_range(trace, 0, 100);
  add_range(trace, 10, 50);
  add_range(trace, 0, 100, 1);
  add_range(trace, 0, 100, 0, 1);  // ended by the other thread
  RangeIndex index(trace);
  CHECK(enclosing(index, call_at(20, 30)) == std::vector<std::uint32_t>{1, 2, 0});
  CHECK(enclosing(index, call_at(20, 31)) == std::vector<std::uint32_t>{1, 2});
  CHECK(enclosing(index, call_at(19, 25)) == std::vector<std::uint32_t>{1, 2});
  CHECK(enclosing(index, call_at(100, 101)).empty());
  CHECK(enclosing(index, call_at(5, 6, 1)) == std::vector<std::uint32_t>{3});
}

TEST_CASE("nothing to find: no ranges, or a thread that is not in the trace") {
  Trace trace;
  CHECK(enclosing(RangeIndex(trace), call_at(1, 2)).empty());
  trace.threads.resize(1);
  CHECK(enclosing(RangeIndex(trace), call_at(1, 2)).empty());
  add_range(trace, 0, 10, kNone);
  CHECK(enclosing(RangeIndex(trace), call_at(1, 2)).empty());
}

TEST_CASE("open ranges end where the index is told") {
  Trace trace;
  trace.threads.resize(1);
  add_range(trace, 0, 100, 0, kNone, true);
  CHECK(enclosing(RangeIndex(trace), call_at(60, 70)).size() == 1);
  CHECK(enclosing(RangeIndex(trace, 50), call_at(60, 70)).empty());
  CHECK(RangeIndex(trace, 50).end_ns(0) == 50);
}

TEST_CASE("the index agrees with trying every pair") {
  for (std::uint32_t seed = 1; seed <= 8; ++seed) {
    Trace trace = random_trace(seed, seed % 2 == 0);
    RangeIndex index(trace);
    for (const ApiCall& call : trace.api_calls) {
      std::vector<std::uint32_t> expected, found = enclosing(index, call);
      for (std::uint32_t i = 0; i < trace.ranges.size(); ++i)
        if (encloses(trace.ranges[i], call)) expected.push_back(i);
      for (std::size_t i = 1; i < found.size(); ++i) REQUIRE(trace.ranges[found[i - 1]].start_ns <= trace.ranges[found[i]].start_ns);
      std::sort(found.begin(), found.end());
      REQUIRE(found == expected);
    }
  }
}

TEST_CASE("work by ranges agrees with trying every pair, in whatever order calls come") {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    Trace trace = random_trace(seed, seed % 2 == 0);
    if (seed > 8) std::shuffle(trace.api_calls.begin(), trace.api_calls.end(), std::mt19937(seed));
    trace.shapes.resize(1);
    for (std::uint32_t i = 0; i < trace.kernels.size(); ++i) {
      trace.kernels[i].shape = 0;
      trace.kernels[i].duration_ns = i % 100 == 7 ? (1ULL << 33) + i : i;
    }
    for (std::uint32_t i = 0; i < trace.mem_ops.size(); ++i)
      trace.mem_ops[i] = {-5 - Ns{i}, 1LL << (20 + i % 20), 0, 0, trace.mem_ops[i].api};
    RangeWork work(trace, 1, 1);
    add_trace(trace, work);
    std::vector<bool> in_none(trace.kernels.size(), true);
    for (std::uint32_t r = 0; r < trace.ranges.size(); ++r) {
      std::vector<Ns> expected, found;
      RangeWork::Projection seen;
      std::set<std::uint32_t> launches;
      const auto inside = [&](std::uint32_t api) { return api != kNone && encloses(trace.ranges[r], trace.api_calls[api]); };
      const auto see = [&](Ns start_ns, Ns end_ns, std::uint32_t api) {
        seen.widen({start_ns, end_ns, launches.insert(api).second ? 1 : 0});
      };
      for (std::uint32_t i = 0; i < trace.kernels.size(); ++i) {
        const Kernel& kernel = trace.kernels[i];
        if (!inside(kernel.api)) continue;
        in_none[i] = false;
        expected.push_back(static_cast<Ns>(kernel.duration_ns));
        see(kernel.start_ns, kernel.end_ns(), kernel.api);
      }
      for (const MemOp& op : trace.mem_ops)
        if (inside(op.api)) see(op.start_ns, op.end_ns, op.api);
      work.each_context(r, [&](std::uint32_t context) { work.each_kernel(context, [&](StringId, Ns ns) { found.push_back(ns); }); });
      std::sort(found.begin(), found.end());
      std::sort(expected.begin(), expected.end());
      REQUIRE(found == expected);
      const RangeWork::Projection projection = work.projection(r);
      REQUIRE(projection.launches == seen.launches);
      REQUIRE(projection.start_ns == seen.start_ns);
      REQUIRE(projection.end_ns == seen.end_ns);
    }
    std::vector<Ns> expected, found;
    for (std::uint32_t i = 0; i < trace.kernels.size(); ++i)
      if (in_none[i]) expected.push_back(static_cast<Ns>(trace.kernels[i].duration_ns));
    for (const auto& [thread, context] : work.outside()) work.each_kernel(context, [&](StringId, Ns ns) { found.push_back(ns); });
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    REQUIRE(found == expected);
  }
}

TEST_CASE("a parent is the shortest range around") {
  Trace trace;
  trace.threads.resize(1);
  add_range(trace, 0, 100);
  add_range(trace, 10, 90);
  add_range(trace, 5, 60);
  add_range(trace, 20, 30);
  add_range(trace, 200, 300);
  add_range(trace, 200, 300);
  RangeIndex index(trace);
  CHECK(index.parent_of(0) == kNone);
  CHECK(index.parent_of(1) == 0);
  CHECK(index.parent_of(2) == 0);
  CHECK(index.parent_of(3) == 2);
  CHECK(index.parent_of(4) == 5);
  CHECK(index.parent_of(5) == 4);
}

TEST_CASE("a parent is the shortest range around, whether ranges are nested, overlap, touch or are the same") {
  const int shape = GENERATE(0, 1, 2);  // short ranges that meet often; nested ones; nested ones with empty ones between them
  for (unsigned seed = 1; seed < 60; ++seed) {
    std::mt19937 dice(seed);
    const auto below = [&](Ns limit) { return static_cast<Ns>(dice() % static_cast<unsigned>(limit)); };
    Trace trace;
    trace.threads.resize(1);
    for (int i = 0; i < 30; ++i) {
      const Ns start = shape == 0 ? below(20) : below(16), length = shape == 0 ? below(12) : 0;
      if (shape == 0) add_range(trace, start, start + length);
      else add_range(trace, start, shape == 2 && i % 5 == 0 ? start : 64 - 2 * start);
    }
    const RangeIndex index(trace);
    for (std::uint32_t child = 0; child < trace.ranges.size(); ++child) {
      std::uint32_t expected = kNone;
      const auto length = [&](std::uint32_t r) { return trace.ranges[r].end_ns - trace.ranges[r].start_ns; };
      for (std::uint32_t r = 0; r < trace.ranges.size(); ++r) {
        const bool around =
            trace.ranges[r].start_ns <= trace.ranges[child].start_ns && trace.ranges[r].end_ns >= trace.ranges[child].end_ns;
        if (r != child && around && (expected == kNone || length(r) < length(expected))) expected = r;
      }
      INFO("shape " << shape << ", seed " << seed << ", range " << child);
      REQUIRE(index.parent_of(child) == expected);
    }
  }
}
