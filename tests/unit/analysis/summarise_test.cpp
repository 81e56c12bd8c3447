#include "tests/unit/analysis/into_run.h"

#include <chrono>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "analysis/account/gpu_sweep.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"
#include "tests/unit/files.h"

using nl::analysis::WarmupRule;
using nl::test::kLlama;
using nl::test::kProbe;

namespace {

using nl::Ns;

// NVIDIA's nvtx_kern_sum: (range, kernel name) → calls and time. The kernel name is the last column.
struct KernSum {
  std::uint64_t calls = 0;
  Ns total_ns = 0;
};
std::map<std::pair<std::string, std::string>, KernSum> read_kern_sum(const std::string& file) {
  std::ifstream stream(file);
  REQUIRE(stream.good());
  std::map<std::pair<std::string, std::string>, KernSum> sums;
  std::string line;
  std::getline(stream, line);
  REQUIRE(line.substr(0, 47) == "NVTX Range,Style,PID,TID,NVTX Inst,Kern Inst,To");
  while (std::getline(stream, line)) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      else if (c == ',' && !quoted) cells.emplace_back();
      else cells.back() += c;
    }
    auto& sum = sums[{cells[0], cells.back()}];
    sum.calls += std::stoull(cells[5]);
    sum.total_ns += std::stoll(cells[6]);
  }
  return sums;
}

const nl::StageSplit* split(const nl::KernelEntry& kernel, const std::string& name) {
  for (const auto& each : kernel.stages)
    if (each.stage == name) return &each;
  return nullptr;
}

using Builder = TraceBuilder;

}  // namespace

TEST_CASE("the split by stage equals NVIDIA's range by kernel table") {
  const auto trace = nl::parsers::read_nsys_sqlite(kLlama + "nsys.sqlite");
  nl::Run run;
  nl::analysis::summarise(trace, {}, run);
  const auto expected = read_kern_sum(kLlama + "nsys_nvtx_kern_sum.csv");
  REQUIRE(run.kernels);
  std::size_t compared = 0;
  for (const auto& kernel : *run.kernels) {
    for (const auto& [name, range] : {std::pair("prefill", ":LLM@prefill"), std::pair("decode", ":LLM@decode_all")}) {
      const auto found = expected.find({range, kernel.name});
      const auto* ours = split(kernel, name);
      INFO(kernel.name << " " << name);
      REQUIRE((found != expected.end()) == (ours != nullptr));
      if (ours == nullptr) continue;
      CHECK(ours->calls == found->second.calls);
      CHECK(ours->total_ns == found->second.total_ns);
      ++compared;
    }
    CHECK(split(kernel, "decode_step") == nullptr);
    std::uint64_t calls = 0;
    for (const auto& each : kernel.stages) calls += each.calls;
    CHECK(calls == kernel.time.count);
  }
  CHECK(compared > 40);
}

TEST_CASE("stages, kernels and coverage of a real capture") {
  const auto trace = nl::parsers::read_nsys_sqlite(kLlama + "nsys.sqlite");
  nl::Run run;
  nl::analysis::summarise(trace, {}, run);
  REQUIRE(run.stages.size() == 3);
  CHECK(run.stages[0].name == "prefill");
  CHECK(run.stages[1].name == "decode");
  CHECK(run.stages[2].name == "decode_step");
  // The first of the two iterations is warm-up; with it the sums are those of nsys' nvtx_sum.
  CHECK(run.stages[0].wall.count == 1);
  CHECK(run.stages[0].warmup_windows == 1);
  CHECK(run.stages[0].wall.total_ns + run.stages[0].warmup_wall_ns == 1424161876);
  CHECK(run.stages[1].wall.total_ns + run.stages[1].warmup_wall_ns == 992357770);
  CHECK(run.stages[2].wall.count == 8);
  CHECK(run.stages[2].warmup_windows == 8);
  CHECK(run.stages[2].wall.total_ns + run.stages[2].warmup_wall_ns == 992089309);
  CHECK(run.stages[1].ranges == std::vector<std::string>{"LLM@decode_all"});
  CHECK(run.stages[1].kernel_calls == 2992 / 2);
  CHECK(run.stages[1].gpu_busy_ns <= run.stages[1].gpu_sum_ns);
  CHECK(run.stages[2].kernel_calls == run.stages[1].kernel_calls);
  REQUIRE(run.kernels);
  CHECK(std::is_sorted(run.kernels->begin(), run.kernels->end(),
                       [](const auto& a, const auto& b) { return a.time.total_ns > b.time.total_ns; }));
  double share = 0;
  Ns total = 0;
  for (const auto& kernel : *run.kernels) {
    share += kernel.gpu_share;
    total += kernel.time.total_ns;
  }
  CHECK(share == Approx(1.0));
  CHECK(run.coverage.kernel_sum_ns == total);
  CHECK(*run.coverage.gpu_busy_ns > 0);
  CHECK(*run.coverage.in_stage_share > 0.9);
  CHECK(*run.coverage.unlinked_share == 0);
  CHECK(*run.coverage.graph_only_share == 0);
  CHECK(run.problems.empty());
  CHECK(std::count_if(run.kernels->begin(), run.kernels->end(), [](const auto& k) { return k.selected; }) == 10);
  REQUIRE(run.ranges.size() == 3);
  CHECK(run.ranges[0].name == "LLM@prefill");
  CHECK(run.ranges[0].wall.total_ns == 1424161876);
  CHECK(run.hardware.gpus.size() == 1);
  CHECK(run.import_stats.source_format == nl::SourceFormat::kNsysSqlite);
  CHECK(run.api.size() > 5);
}

TEST_CASE("domains, graphs, open and crossing ranges of the probe") {
  const auto trace = nl::parsers::read_nsys_sqlite(kProbe + "probe_node.sqlite");
  nl::Run run;
  nl::analysis::SummaryOptions options;
  options.warmup.mode = nl::analysis::WarmupRule::Mode::kNone;
  nl::analysis::summarise(trace, options, run);
  const auto prefill = stage(run, "prefill");
  CHECK(prefill.wall.count == 6);  // 4 of the domain, 2 of the literal name
  CHECK(prefill.ranges == std::vector<std::string>{"LLM:prefill", "LLM@prefill"});
  CHECK(prefill.kernel_calls == 4 * 6 + 2 * 3);
  CHECK(stage(run, "never_closed").open_ranges == 2);
  CHECK(stage(run, "never_closed").wall.count == 0);
  CHECK(stage(run, "never_closed").kernel_calls == 6);
  CHECK(stage(run, "decode").wall.count == 8);  // 4 push/pop, 2 start/end, 2 ended by another thread
  CHECK(stage(run, "decode").kernel_calls == 4 * 12 + 2 * 3);
  const auto graph = stage(run, "graph_decode");
  CHECK(graph.kernel_calls == 2 * 4 * 3);
  std::uint64_t graph_calls = 0;
  for (const auto& kernel : *run.kernels) graph_calls += kernel.graph_calls;
  CHECK(graph_calls == 2 * 4 * 3);
}

TEST_CASE("a capture of whole graphs says what share has no kernels") {
  const auto trace = nl::parsers::read_nsys_sqlite(kProbe + "probe_graph.sqlite");
  nl::Run run;
  nl::analysis::summarise(trace, {}, run);
  REQUIRE(run.coverage.graph_only_share);
  CHECK(*run.coverage.graph_only_share > 0);
  CHECK(*run.coverage.graph_only_share < 1);
  CHECK(stage(run, "graph_decode").kernel_calls == 0);
  CHECK(*stage(run, "graph_decode").gpu_busy_ns > 0);
}

TEST_CASE("a kernel's share is of all computing, graphs without their kernels included") {
  Builder b;
  b.stage("decode_all", 0, 1000);
  b.kernel("a", 10, 60, b.call(5));
  b.kernel("b", 100, 40, b.call(90));
  b.graph(200, 500, b.call(190, 0, "cudaGraphLaunch"));
  const auto run = b.run_all();
  CHECK((*run.kernels)[0].gpu_share == Approx(60.0 / 400));
  CHECK((*run.kernels)[1].gpu_share == Approx(40.0 / 400));
  CHECK(*run.coverage.graph_only_share == Approx(300.0 / 400));
}

TEST_CASE("versions of the CUDA API do not split a function") {
  Builder b;
  const auto stat = [&](const char* name, std::initializer_list<Ns> durations) {
    nl::ApiStat stat;
    stat.name = b.trace.strings.intern(name);
    for (const Ns ns : durations) stat.durations.add(ns);
    b.trace.api_stats.push_back(std::move(stat));
  };
  stat("cudaGraphLaunch_v10000", {10, 20});
  stat("cudaGraphLaunch", {30});
  stat("cuMemcpyHtoD_v2", {5});
  stat("cudaGetDeviceProperties_v12000", {7});
  const auto run = b.run();
  REQUIRE(run.api.size() == 3);
  CHECK(run.api[0].name == "cudaGraphLaunch");
  CHECK(run.api[0].time.count == 3);
  CHECK(run.api[0].time.total_ns == 60);
  CHECK(run.api[0].time.median_ns == 20);
  CHECK(run.api[1].name == "cudaGetDeviceProperties");
  CHECK(run.api[2].name == "cuMemcpyHtoD_v2");
}

TEST_CASE("a kernel counts once in a stage, however often its phase is marked") {
  Builder b;
  b.range("", "LLM@decode_all", 0, 1000);
  b.range("LLM", "decode_all", 10, 990);
  b.range("LLM", "decode_step", 20, 500);
  b.range("LLM", "decode_step", 500, 980);
  b.range("LLM", "attention", 30, 200);
  b.kernel("k", 100, 50, b.call(40));
  b.kernel("k", 120, 50, b.call(60));
  b.kernel("k", 600, 10, b.call(550));
  const auto run = b.run();
  const auto decode = stage(run, "decode");
  CHECK(decode.wall.count == 1);
  CHECK(decode.wall.total_ns == 1000);
  CHECK(decode.kernel_calls == 3);
  CHECK(decode.gpu_sum_ns == 110);
  CHECK(decode.gpu_busy_ns == 80);  // 100..170 and 600..610
  CHECK(stage(run, "decode_step").wall.count == 2);
  CHECK(stage(run, "decode_step").kernel_calls == 3);
  CHECK(stage(run, "attention").kernel_calls == 2);
  REQUIRE(run.kernels->size() == 1);
  REQUIRE((*run.kernels)[0].stages.size() == 1);  // the outermost stage only
  CHECK((*run.kernels)[0].stages[0].stage == "decode");
  CHECK((*run.kernels)[0].stages[0].calls == 3);
}

TEST_CASE("a step outside of decode's own ranges is no part of decode") {
  Builder b;
  b.stage("decode_step", 0, 100);  // before it
  b.stage("decode_all", 100, 300);
  b.stage("decode_step", 100, 190);
  b.stage("decode_step", 200, 290);
  for (const Ns at : {10, 110, 210}) b.launch(at, at + 10, 60);
  const auto run = b.run_all();
  CHECK(*stage(run, "decode_step").gpu_busy_ns == 180);
  CHECK(*stage(run, "decode").gpu_busy_ns == 120);
  CHECK(*stage(run, "decode").gpu_sum_ns == 120);
  CHECK(*stage(run, "decode").kernel_calls == 2);
  CHECK(*stage(run, "decode").gpu_busy_ns <= stage(run, "decode").wall.total_ns);
}

TEST_CASE("decode without ranges of its own is all its steps, and what is launched between them") {
  Builder b;
  b.stage("decode_step", 100, 190);
  b.stage("decode_step", 200, 290);
  for (const Ns at : {110, 192, 210}) b.launch(at, at + 2, 5);
  const auto run = b.run_all();
  CHECK(stage(run, "decode").derived);
  CHECK(*stage(run, "decode").kernel_calls == 3);
  CHECK(*stage(run, "decode_step").kernel_calls == 2);
}

TEST_CASE("requests that overlap are not the same phase marked twice") {
  Builder b;
  b.range("LLM", "decode_all", 0, 100, 0, nl::RangeStyle::kStartEnd);
  b.range("LLM", "decode_all", 10, 60, 0, nl::RangeStyle::kStartEnd);
  const auto run = b.run_all();
  CHECK(stage(run, "decode").wall.count == 2);
}

TEST_CASE("only the launching thread, where it has stages, and the whole call count") {
  Builder b;
  b.range("LLM", "prefill", 0, 100, 0);
  b.range("LLM", "vision", 500, 600, 1);
  b.kernel("other_thread", 200, 10, b.call(50, 1));
  b.kernel("across_the_end", 220, 10, b.call(99, 0));
  b.kernel("inside", 240, 10, b.call(98, 0));
  b.kernel("unlinked", 260, 10, nl::kNone);
  const auto run = b.run();
  CHECK(stage(run, "prefill").kernel_calls == 1);
  for (const auto& kernel : *run.kernels) CHECK(kernel.stages[0].stage == (kernel.name == "inside" ? "prefill" : "none"));
  CHECK(*run.coverage.unlinked_share == Approx(0.25));
  CHECK(*run.coverage.in_stage_share == Approx(0.25));
}

TEST_CASE("top-N: time inside the chosen stages decides, names count once over devices") {
  Builder b;
  b.range("LLM", "prefill", 0, 100);
  b.range("LLM", "warmup", 200, 300);
  const auto in = b.call(10);
  const auto out = b.call(210);
  b.kernel("big_outside", 1000, 9000, out);
  b.kernel("small_inside", 300, 20, in, 0);
  b.kernel("small_inside", 300, 20, in, 1);
  b.kernel("mid_inside", 400, 30, in);
  b.kernel("tiny_inside", 500, 5, in);
  std::map<std::string, int> chosen;
  const auto run = b.run({{"prefill", "decode"}, 2});
  for (const auto& kernel : *run.kernels) chosen[kernel.name] += kernel.selected;
  CHECK(chosen == std::map<std::string, int>{{"big_outside", 0}, {"small_inside", 2}, {"mid_inside", 1}, {"tiny_inside", 0}});
  const auto fallback = b.run({{"decode"}, 1});
  CHECK((*fallback.kernels)[0].name == "big_outside");
  CHECK((*fallback.kernels)[0].selected);
  REQUIRE(fallback.problems.size() == 1);
  CHECK(fallback.problems[0].what.find("no ranges of the stages decode") != std::string::npos);
}

TEST_CASE("top-N: a program that does not generate lacks no stages, unless others were asked for") {
  Builder b;
  for (const Ns start : {0, 1000, 2000}) b.range("LLM", "assemble", start, start + 900);
  b.kernel("inside", 1200, 300, b.call(1100));
  CHECK(b.run({{"prefill", "decode"}, 2}).problems.empty());
  CHECK(b.run({{"asemble"}, 2}).problems.size() == 1);
  b.range("LLM", "decode_step", 5000, 6000);  // it does generate, and prefill is not marked
  CHECK(b.run({{"prefill"}, 2}).problems.size() == 1);
}

TEST_CASE("top-N: what runs only in warm-up is not chosen, however long it takes") {
  Builder b;
  for (const Ns start : {0, 10'000, 20'000}) b.range("LLM", "prefill", start, start + 100);
  b.kernel("autotune", 300, 5000, b.call(10));
  b.kernel("gemm", 12'000, 20, b.call(10'010));
  b.kernel("gemm", 22'000, 20, b.call(20'010));
  const auto run = b.run({{"prefill"}, 1, {WarmupRule::Mode::kCount, 1}});
  REQUIRE(run.iterations.warmup == 1);
  CHECK(run.kernels->at(0).name == "autotune");
  CHECK_FALSE(run.kernels->at(0).selected);
  CHECK(run.kernels->at(1).selected);
}

TEST_CASE("a launch in a measured window counts once, in however many stages it lies") {
  Builder b;
  const auto measured = [&](const char* name) {
    const auto run = b.run({{"decode"}, 1, {WarmupRule::Mode::kCount, 1}});
    CHECK(run.iterations.warmup == 1);
    for (const auto& kernel : *run.kernels)
      if (kernel.name == name) return std::pair(kernel.measured_ns, kernel.measured_calls);
    FAIL("no such kernel");
    return std::pair(std::optional<Ns>(), std::optional<std::uint64_t>());
  };
  const auto generate = [&](Ns start, bool request) {
    if (request) b.stage("request", start, start + 900);
    b.stage("prefill", start + 10, start + 100);
    b.stage("decode_all", start + 100, start + 800);
    b.stage("decode_step", start + 110, start + 700);
    b.kernel("gemm", start + 120, 30, b.call(start + 115));  // in request, decode and decode_step
    b.kernel("gemm", start + 720, 5, b.call(start + 710));   // not in a step
  };
  using Counted = std::pair<std::optional<Ns>, std::optional<std::uint64_t>>;
  SECTION("where every iteration nests alike") {
    for (const Ns start : {0, 1000, 2000}) generate(start, true);
    CHECK(measured("gemm") == Counted(70, 4));
  }
  SECTION("where the warm-up lies outside of the request") {
    generate(0, false);
    for (const Ns start : {1000, 2000}) generate(start, true);
    CHECK(measured("gemm") == Counted(70, 4));
  }
  SECTION("where a launch lies in warm-up or in no stage, not at all") {
    for (const Ns start : {0, 1000, 2000}) generate(start, true);
    b.kernel("autotune", 200, 100, b.call(150));
    b.kernel("load", 950, 40, b.call(940));
    CHECK(measured("autotune") == Counted(0, 0));
    CHECK(measured("load") == Counted(0, 0));
  }
}

TEST_CASE("top-N: where the stages hold nothing but graphs traced as wholes, that is the reason given") {
  Builder b;
  b.range("LLM", "prefill", 0, 100);
  b.kernel("outside", 1000, 9000, b.call(210));
  const auto why = [&] {
    const auto run = b.run({{"prefill"}, 1});
    REQUIRE(run.problems.size() == 1);
    return run.problems[0].what + " / " + run.problems[0].fix;
  };
  CHECK(why().find("No kernel was launched inside the stages prefill") == 0);
  b.trace.graph_runs.push_back({300, 400, 0, b.call(10)});
  CHECK(why().find("Inside the stages prefill, CUDA graphs were captured at graph level") == 0);
  CHECK(why().find("capture.cuda_graphs=node") != std::string::npos);
}

TEST_CASE("files of the collector without kernels: what it says, or that they are of a counter pass") {
  Builder b;
  b.trace.has_kernel_data = b.trace.has_mem_data = false;
  b.trace.stats.source_format = nl::SourceFormat::kCollector;
  const nl::Remark not_recorded{nl::Code::kNotRecorded, {"kernels, copies and CUDA calls are not recorded: no libcupti"}},
      counters{nl::Code::kCounterPass};
  b.trace.stats.notes = {{nl::Code::kClockFit, {"a clock"}}, not_recorded};
  CHECK(b.run().kernels_note == not_recorded);
  b.trace.stats.rows_read["counter sets"] = 1;
  CHECK(b.run().kernels_note == counters);
  b.trace.stats.rows_read.clear();
  b.trace.stats.notes = {{nl::Code::kCountersDenied, {"CUPTI"}}};
  CHECK(b.run().kernels_note == counters);
}

TEST_CASE("not captured is not zero") {
  Builder b;
  b.trace.has_kernel_data = b.trace.has_mem_data = false;
  b.trace.stats.source_format = nl::SourceFormat::kCollector;
  b.range("LLM", "prefill", 0, 100);
  const auto run = b.run();
  CHECK_FALSE(run.kernels);
  CHECK(run.kernels_note == nl::Remark{nl::Code::kRangesOnly});
  CHECK(stage(run, "prefill").wall.total_ns == 100);
  CHECK_FALSE(stage(run, "prefill").gpu_busy_ns);
  CHECK_FALSE(stage(run, "prefill").kernel_calls);
  CHECK_FALSE(run.coverage.gpu_busy_ns);
  CHECK_FALSE(run.coverage.in_stage_share);
  CHECK(run.problems.empty());
}

TEST_CASE("very many range names are cut with a note") {
  Builder b;
  for (int i = 0; i < 2500; ++i) b.range("", ("op " + std::to_string(i)).c_str(), i * 10, i * 10 + 5 + i);
  const auto run = b.run();
  CHECK(run.ranges.size() == 2000);
  CHECK(run.ranges[0].name == "op 2499");
  CHECK(run.import_stats.notes == std::vector<nl::Remark>{{nl::Code::kRangesNotListed, {"2500", "2000"}}});
}

TEST_CASE("the union of intervals") {
  nl::analysis::BusyTime busy;
  busy.add(0, 10, true);
  busy.add(5, 8, true);
  busy.add(5, 15, false);
  busy.add(15, 20, true);
  busy.add(30, 31, true);
  CHECK(busy.busy_ns() == 21);
  CHECK(busy.sum_ns == 10 + 3 + 10 + 5 + 1);
  CHECK(busy.kernels == 4);
}

TEST_CASE("a million kernels in no particular order", "[.][speed]") {
  Builder b;
  for (int i = 0; i < 3000; ++i) b.range("LLM", i % 2 ? "decode_all" : "prefill", Ns{1000000} * i, Ns{1000000} * i + 900000);
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("kernel_" + std::to_string(i));
  for (int i = 0; i < 1000000; ++i) {
    const Ns at = Ns{3000} * i;
    b.kernel(names[static_cast<std::size_t>(i) * 7919 % 200].c_str(), at + 5000 + i % 13 * 1000, static_cast<std::uint64_t>(1000 + i % 977),
             b.call(at));
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto run = b.run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  WARN("summarise of 1,000,000 kernels took " << took.count() << " s");
  CHECK(run.kernels->size() == 200);
}
