#include "analysis/staging/found/sources.h"

#include <algorithm>
#include <map>

#include "analysis/staging/found/found.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"

using namespace nl;
using namespace nl::analysis;

namespace {

// Kernels of one process, 10 ns each, one every 100 ns; a letter is a name.
Trace trace_of(const std::string& names) {
  Trace trace;
  trace.processes = {{1, "a"}};
  trace.threads = {{0, 1, ""}, {0, 2, ""}};
  trace.queues = {{0, 0, 1, 7}};
  std::map<char, std::uint32_t> shapes;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [shape, added] = shapes.try_emplace(names[i], static_cast<std::uint32_t>(trace.shapes.size()));
    if (added) trace.shapes.emplace_back().name = trace.strings.intern(std::string(1, names[i]));
    Kernel kernel;
    kernel.start_ns = 1000 + 100 * static_cast<Ns>(i);
    kernel.duration_ns = 10;
    kernel.shape = shape->second;
    kernel.api = static_cast<std::uint32_t>(i);
    trace.kernels.push_back(kernel);
    ApiCall call;
    call.start_ns = kernel.start_ns - 50;
    call.duration_ns = 5;
    call.thread = i % 4 == 0 ? 0 : 1;
    call.name = trace.strings.intern("cudaLaunchKernel");
    trace.api_calls.push_back(call);
  }
  trace.has_kernel_data = true;
  return trace;
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("the steady part begins where every kernel that matters has run once") {
  const auto parts = find_steady_parts(trace_of("xyz" + repeated("ab", 100)));
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].first_work_ns == 1000);
  CHECK(parts[0].start_ns == 1000 + 4 * 100 + 10);  // the end of the first b
  CHECK(parts[0].end_ns == 1000 + 202 * 100 + 10);
  CHECK(parts[0].warmed_up);
  CHECK(parts[0].thread == 1);
}

TEST_CASE("of many kernels that matter the one that comes last decides") {
  std::string names;
  for (int known = 1; known <= 12; ++known) names += std::string("abcdefghijkl").substr(0, static_cast<std::size_t>(known));
  const Ns last = static_cast<Ns>(names.size()) - 1;  // the first l
  const auto parts = find_steady_parts(trace_of(names + repeated("abcdefghijkl", 20)));
  CHECK(parts.at(0).start_ns == 1000 + last * 100 + 10);
}

TEST_CASE("a rare kernel that comes late does not shorten the steady part, a frequent one does") {
  const std::string steps = repeated("ab", 200);
  CHECK(find_steady_parts(trace_of(steps + "c" + steps))[0].start_ns == 1000 + 1 * 100 + 10);
  CHECK(find_steady_parts(trace_of(steps + repeated("c", 300)))[0].start_ns == 1000 + 400 * 100 + 10);
}

TEST_CASE("where too little would be left, nothing is left out") {
  const auto parts = find_steady_parts(trace_of(repeated("ab", 200) + repeated("c", 100)));
  CHECK(parts[0].start_ns == 1000);
  CHECK_FALSE(parts[0].warmed_up);
}

TEST_CASE("where the host runs ahead, the steady part begins with the launch of its first work") {
  Trace trace = trace_of("ab" + repeated("ab", 100));
  for (ApiCall& call : trace.api_calls) call.start_ns = call.start_ns / 10;
  const auto parts = find_steady_parts(trace);
  CHECK(parts[0].start_ns == trace.api_calls[2].start_ns);
  CHECK(parts[0].warmed_up);
}

TEST_CASE("a trace without work on a GPU has no steady part") { CHECK(find_steady_parts(Trace()).empty()); }

TEST_CASE("where nothing is marked and nothing repeats, the steady part of the capture is the stage, with a budget") {
  std::string names;
  for (std::uint32_t i = 0, state = 7; i < 400; ++i)
    names += static_cast<char>('a' + (state = state * 1103515245u + 12345u, state >> 16) % 9);
  Trace trace = trace_of(names);
  trace.duration_ns = 1000 + 400 * 100;
  add_found_stages(trace, {});
  Run run;
  summarise(trace, {}, run);
  REQUIRE(run.stages.size() == 1);
  const StageEntry& stage = run.stages[0];
  CHECK(stage.name == "capture");
  CHECK(stage.source == StageSource::kInferred);
  REQUIRE(stage.budget);
  CHECK(stage.budget->sum_ns() == stage.budget->wall_ns);
  CHECK(stage.budget->wall_ns == trace.ranges[0].end_ns - trace.ranges[0].start_ns);
  CHECK(stage.budget->launch_starved_ns > stage.budget->gpu_compute_ns);
  CHECK(std::any_of(run.import_stats.notes.begin(), run.import_stats.notes.end(),
                    [](const Remark& note) { return note.code == Code::kSteadyPart; }));
  CHECK(run.ranges.empty());
}
