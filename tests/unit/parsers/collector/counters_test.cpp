
#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <random>

#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/parsers/collector/counter_file.h"
#include "tests/unit/parsers/scratch_file.h"
#include "tests/unit/remark_texts.h"

using namespace nl;
using namespace nl::parsers;
using nl::test::CounterFile;
using nl::test::ScratchFile;
using trace_format::Kind;
using trace_format::MetricUse;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const char* const kTime = "gpu__time_duration.sum";
const char* const kRead = "dram__bytes_read.sum";
const char* const kThroughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
const char* const kDramThroughput = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";

CounterReport read_counters(const CounterFile& file) {
  ScratchFile scratch(file.whole());
  return read_collector_counters({scratch.path});
}

// Strings 1 "LLM", 2 "prefill", 3 "LLM@decode_all"; kernels 1 "_Zk" and 2 "_Zj"; sets 1 of stages, 2 of kernels in
// place, 3 of kernels that are replayed 11 times.
CounterFile begun() {
  CounterFile file;
  file.thread(7).string(1, "LLM").string(2, "prefill").string(3, "LLM@decode_all");
  file.push(2, 1500, 1).push(3, 1600).pop(2600).pop(2700, 1).push(2, 2800, 1).pop(2900, 1);
  file.thread(8).push(3, 1000);
  file.thread(0).name(1, "_Zk").name(2, "_Zj");
  file.set(1, MetricUse::kStage, {kTime, kRead}).set(2, MetricUse::kKernel, {kTime, kRead});
  return file.set(3, MetricUse::kKernel, {kThroughput, kRead, kDramThroughput}, 11);
}

}  // namespace

TEST_CASE("windows are numbered among all ranges of their name, those before CUDA too") {
  CounterFile file = begun();  // prefill at 1500 and 2800; CUDA began between them
  file.window(1, 1, 2, 0, {100, 5000}, 2790, 2950);
  const CounterReport report = read_counters(file);
  REQUIRE(report.windows.size() == 1);
  CHECK(report.windows[0].first == 1);
}

TEST_CASE("windows of several processes are numbered together, by time") {
  std::vector<std::unique_ptr<ScratchFile>> scratch;
  std::vector<std::filesystem::path> paths;
  for (std::uint32_t process = 0; process < 4; ++process) {
    CounterFile file(100 + process);
    file.thread(7).string(1, "LLM").string(2, "prefill");
    for (int i = 0; i < 3; ++i) file.push(2, 2000 + 1000 * i + 10 * process, 1).pop(2500 + 1000 * i, 1);
    file.thread(0).set(1, MetricUse::kStage, {kTime});
    for (int i = 0; i < 3; ++i) file.window(1, 1, 2, static_cast<std::uint32_t>(i), {100}, 1999 + 1000 * i + 10 * process, 2600 + 1000 * i);
    scratch.push_back(std::make_unique<ScratchFile>(file.whole()));
    paths.push_back(scratch.back()->path);
  }
  const CounterReport report = read_collector_counters(paths);
  std::vector<std::uint64_t> numbers;
  for (const WindowCounters& window : report.windows) numbers.push_back(window.first);
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::uint64_t> all(12);
  std::iota(all.begin(), all.end(), 0);
  CHECK(numbers == all);  // each process has one of the four that are warm-up
}

TEST_CASE("a counter below zero is damage, not a number") {
  CounterFile file = begun();
  file.window(1, 1, 2, 0, {100, -5000});
  const CounterReport report = read_counters(file);
  REQUIRE(report.windows.size() == 1);
  CHECK(report.windows[0].metrics == std::map<std::string, double>{{kTime, 100}});
  CHECK(nl::test::texts_of(report.rows_damaged).at("counter or sample below zero") == 1);
}

TEST_CASE("counters of stages: what each window measured, and when") {
  CounterFile file = begun();
  file.window(1, 1, 2, 0, {100, 5000}).window(1, 0, 3, 4, {kNaN, 7000}, 4000, 9000, 3, 1);
  file.note("counters are not measured: no permission").note("counters are not measured: no permission");
  const CounterReport report = read_counters(file);
  CHECK(report.rows_damaged.empty());
  REQUIRE(report.windows.size() == 2);
  CHECK(report.windows[0].domain == "LLM");
  CHECK(report.windows[0].name == "prefill");
  CHECK(report.windows[0].windows == 1);
  CHECK(report.windows[0].start_ns == 1000);  // the file was made at 1000
  CHECK(report.windows[0].end_ns == 2000);
  CHECK(report.windows[0].metrics == std::map<std::string, double>{{kTime, 100}, {kRead, 5000}});
  CHECK(report.windows[1].domain.empty());
  CHECK(report.windows[1].name == "LLM@decode_all");
  CHECK(report.windows[1].device == 1);
  CHECK(report.windows[1].first == 4);
  CHECK(report.windows[1].windows == 3);
  CHECK(report.windows[1].metrics == std::map<std::string, double>{{kRead, 7000}});        // NaN: it was not measured
  CHECK(report.notes == std::vector<Remark>{{Code::kCountersFailed, {"no permission"}}});  // of a collector without codes
  CHECK(report.kernels.launches.empty());
}

TEST_CASE("counters of a kernel: in place and by replay are one launch, in which the first wins") {
  CounterFile file = begun();
  file.kernel(2, 1, 2000, {30, 5000}).kernel(3, 1, 2850, {61, 10, 2});
  const CounterReport report = read_counters(file);
  REQUIRE(report.kernels.launches.size() == 1);
  const NcuLaunch& launch = report.kernels.launches[0];
  CHECK(launch.kernel_name == "_Zk");
  CHECK(launch.pid == 100);
  CHECK(launch.grid == Dim3{4, 1, 1});
  CHECK(launch.block == Dim3{32, 1, 1});
  // The replays find the caches warm: their share of DRAM would be a lie beside the bytes.
  CHECK(launch.metrics == std::map<std::string, double>{{kTime, 30}, {kRead, 5000}, {kThroughput, 61}});
}

TEST_CASE("counters of a kernel: the replayed set may come first, be alone, or fill a gap") {
  CounterFile file = begun();
  file.kernel(3, 1, 2000, {61, 10, 2}).kernel(2, 1, 2850, {30, kNaN}).kernel(3, 2, 2100, {62, 11, 3});
  const CounterReport report = read_counters(file);
  REQUIRE(report.kernels.launches.size() == 2);  // by the time of what was measured in place
  const NcuLaunch& alone = report.kernels.launches[0];
  CHECK(alone.kernel_name == "_Zj");
  CHECK(alone.metrics == std::map<std::string, double>{{kThroughput, 62}, {kRead, 11}, {kDramThroughput, 3}});
  // DRAM of a replay is not taken for what failed in place.
  CHECK(report.kernels.launches[1].metrics == std::map<std::string, double>{{kTime, 30}, {kThroughput, 61}});
  CHECK(report.kernels.launches[0].id != report.kernels.launches[1].id);
}

TEST_CASE("counters of a kernel: other shapes, GPUs and further launches stay apart") {
  CounterFile file = begun();
  file.kernel(2, 1, 2000, {30, 1}).kernel(2, 1, 2001, {31, 2}).kernel(2, 1, 2002, {32, 3}, 8).kernel(2, 1, 2003, {33, 4}, 4, 7, 1);
  file.kernel(3, 1, 2004, {61, 0, 0}).kernel(3, 1, 2005, {62, 0, 0}).kernel(3, 1, 2006, {63, 0, 0}, 8);
  const CounterReport report = read_counters(file);
  REQUIRE(report.kernels.launches.size() == 4);
  CHECK(report.kernels.launches[0].metrics == std::map<std::string, double>{{kTime, 30}, {kRead, 1}, {kThroughput, 61}});
  CHECK(report.kernels.launches[1].metrics == std::map<std::string, double>{{kTime, 31}, {kRead, 2}, {kThroughput, 62}});
  CHECK(report.kernels.launches[2].metrics == std::map<std::string, double>{{kTime, 32}, {kRead, 3}, {kThroughput, 63}});
  CHECK(report.kernels.launches[3].metrics == std::map<std::string, double>{{kTime, 33}, {kRead, 4}});
  CHECK(report.kernels.launches[3].device == 1);
}

TEST_CASE("counters of a kernel: a set that is defined anew is the same set") {
  CounterFile file = begun();
  file.kernel(2, 1, 2000, {30, 1}).set(9, MetricUse::kKernel, {kTime, kRead}).kernel(9, 1, 2001, {31, 2});
  const CounterReport report = read_counters(file);
  REQUIRE(report.kernels.launches.size() == 2);
  CHECK(report.kernels.launches[1].metrics.at(kTime) == 31);
}

TEST_CASE("counters of a kernel: the ranges that are open on its thread, outermost first") {
  CounterFile file = begun();
  file.kernel(2, 1, 1700, {30, 1}).kernel(2, 1, 2650, {31, 2}).kernel(2, 1, 2750, {32, 3}).kernel(2, 2, 2850, {33, 4}, 4, 8);
  const CounterReport report = read_counters(file);
  REQUIRE(report.kernels.launches.size() == 4);
  const auto ranges = [&](std::size_t i) {
    std::string text;
    for (const NcuRange& range : report.kernels.launches[i].ranges) text += "/" + range.domain + ":" + range.name;
    return text;
  };
  CHECK(ranges(0) == "/LLM:prefill/:LLM@decode_all");
  CHECK(ranges(1) == "/LLM:prefill");
  CHECK(ranges(2).empty());
  CHECK(ranges(3) == "/:LLM@decode_all");  // never closed, on a thread of its own
}

TEST_CASE("counters of several processes: one clock, and a number for each launch") {
  CounterFile other(200, 500);
  other.thread(0)
      .name(1, "_Zk")
      .set(2, MetricUse::kKernel, {kTime})
      .kernel(2, 1, 2000, {40}, 4, 9)
      .thread(9)
      .string(5, "LLM")
      .string(6, "x");
  other.thread(0).set(1, MetricUse::kStage, {kTime}).window(1, 5, 6, 0, {1});
  CounterFile file = begun();
  file.kernel(2, 1, 2000, {30, 5000}).window(1, 1, 2, 0, {100, 5000});
  ScratchFile a(file.whole()), b(other.whole());
  const CounterReport report = read_collector_counters({a.path, b.path});
  REQUIRE(report.kernels.launches.size() == 2);  // of two processes: that they are one is not known
  CHECK(report.kernels.launches[0].pid == 200);
  CHECK(report.kernels.launches[0].id == 0);
  CHECK(report.kernels.launches[1].id == 1);
  REQUIRE(report.windows.size() == 2);
  CHECK(report.windows[1].start_ns == 1500);  // since the earlier file was made
}

TEST_CASE("damaged counters are counted, and the rest is read") {
  const auto damage = [](void (*spoil)(CounterFile&)) {
    CounterFile file = begun();
    spoil(file);
    file.window(1, 1, 2, 0, {100, 5000}).kernel(2, 1, 2000, {30, 5000});
    const CounterReport report = read_counters(file);
    CHECK(report.windows.size() == 1);
    CHECK(report.kernels.launches.size() == 1);
    return nl::test::texts_of(report.rows_damaged);
  };
  using Damage = std::map<std::string, std::uint64_t>;
  CHECK(damage([](CounterFile& f) { f.window(9, 1, 2, 0, {1, 2}); }) == Damage{{"counters or samples whose metrics are not known", 1}});
  // A set for kernels says nothing of a stage.
  CHECK(damage([](CounterFile& f) { f.window(2, 1, 2, 0, {1, 2}); }) == Damage{{"counters or samples whose metrics are not known", 1}});
  CHECK(damage([](CounterFile& f) { f.window(1, 1, 2, 0, {1}); }) == Damage{{"counters that do not fit their record", 1}});
  CHECK(damage([](CounterFile& f) { f.kernel(2, 1, 2000, {}); }) == Damage{{"counters that do not fit their record", 1}});
  CHECK(damage([](CounterFile& f) { f.window(1, 1, 77, 0, {1, 2}); }) == Damage{{"counters of a range whose name was lost", 1}});
  CHECK(damage([](CounterFile& f) { f.window(1, 77, 2, 0, {1, 2}); }) == Damage{{"counters of a range whose name was lost", 1}});
  CHECK(damage([](CounterFile& f) { f.window(1, 1, 2, 0, {1, 2}, 3000, 2000); }) ==
        Damage{{"counters with an impossible time or no window", 1}});
  CHECK(damage([](CounterFile& f) { f.window(1, 1, 2, 0, {1, 2}, INT64_MIN, INT64_MAX); }) ==
        Damage{{"counters with an impossible time or no window", 1}});
  CHECK(damage([](CounterFile& f) { f.window(1, 1, 2, 0, {1, 2}, 2000, INT64_MAX); }) ==
        Damage{{"counters with an impossible time or no window", 1}});
  CHECK(damage([](CounterFile& f) { f.window(1, 1, 2, 0, {1, 2}, -1, 3000); }) ==
        Damage{{"counters with an impossible time or no window", 1}});
  CHECK(damage([](CounterFile& f) { f.window(1, 1, 2, 0, {1, 2}, 2000, 3000, 0); }) ==
        Damage{{"counters with an impossible time or no window", 1}});
  CHECK(damage([](CounterFile& f) { f.kernel(2, 77, 2000, {1, 2}); }) == Damage{{"counters of a kernel whose name was lost", 1}});
  CHECK(damage([](CounterFile& f) { f.kernel(2, 1, -1, {1, 2}); }) == Damage{{"counters with an impossible time or no window", 1}});
  // Three metrics announced, two named; a text longer than the record.
  const auto bad_set = [](std::uint32_t count, std::uint32_t length, CounterFile& f) {
    f.add(Kind::kMetricSet, trace_format::MetricSet{{}, MetricUse::kStage, 0, 0, count, length, 1, 0}, 8, "a\nb\n");
  };
  CounterFile file = begun();
  bad_set(3, 4, file);
  bad_set(2, 400, file);
  bad_set(0, 0, file);
  file.window(8, 1, 2, 0, {1, 2, 3});
  CHECK(nl::test::texts_of(read_counters(file).rows_damaged) ==
        Damage{{"metric sets that do not fit their record", 3}, {"counters or samples whose metrics are not known", 1}});
}

TEST_CASE("counters cut at every byte: what came before is read") {
  CounterFile file = begun();
  const std::size_t before = file.ends.size();
  file.window(1, 1, 2, 0, {100, 5000}).kernel(2, 1, 2000, {30, 5000}).kernel(3, 1, 2850, {61, 10, 2}).window(1, 1, 2, 1, {100, 5000});
  const std::string whole = file.bytes;
  ScratchFile scratch("");
  for (std::size_t length = 1; length <= whole.size(); length += length < file.ends[before - 1] ? 997 : 1) {
    scratch.write(whole.substr(0, length));
    const CounterReport report = read_collector_counters({scratch.path});
    const auto ended = [&](std::size_t record) { return length >= file.ends[before + record]; };
    REQUIRE(report.windows.size() == static_cast<std::size_t>(ended(0)) + ended(3));
    REQUIRE(report.kernels.launches.size() == static_cast<std::size_t>(ended(1)));
    if (ended(1)) REQUIRE(report.kernels.launches[0].metrics.contains(kThroughput) == ended(2));
  }
}

TEST_CASE("random damage to counters, samples and stalls crashes neither reader") {
  CounterFile file = begun();
  file.window(1, 1, 2, 0, {100, 5000}).kernel(2, 1, 2000, {30, 5000}).kernel(3, 1, 2850, {61, 10, 2});
  file.set(4, MetricUse::kSamples, {"a", "b"}).samples(4, {{2000, 500, {1, 2}}, {2500, 500, {3, 4}}}, true);
  file.text(Kind::kStallReason, 1, "smsp__pcsamp_warps_issue_stalled_wait").stalls(1, {{1, 5}, {2, 6}});
  std::mt19937 random(20261115);
  const std::size_t from = file.ends[file.ends.size() - 13];  // the GPU half, after its ThreadStart
  ScratchFile scratch("");
  std::size_t damaged = 0;
  for (int round = 0; round < 700; ++round) {
    std::string bytes = file.bytes;
    for (int flips = 0; flips < 3; ++flips) bytes[from + random() % (bytes.size() - from)] = static_cast<char>(random());
    scratch.write(bytes);
    damaged += !read_collector_counters({scratch.path}).rows_damaged.empty();
    read_collector_traces({scratch.path});
  }
  CHECK(damaged > 70);  // most bytes are values, whose damage cannot be seen
}
