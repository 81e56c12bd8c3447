#include "parsers/stacks/stacks.h"

#include <fmt/format.h>

#include <random>

#include "parsers/registry.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl;
using parsers::join_stacks;
using parsers::stack_files;

namespace {

// Process 700 with the thread 701; its clock is 1,000,000 ahead of the trace.
struct TracedProcess {
  Trace trace;

  explicit TracedProcess(std::uint32_t pid = 700) { add(pid); }
  void add(std::uint32_t pid) {
    trace.processes.push_back({pid, "python"});
    trace.threads.push_back({static_cast<std::uint32_t>(trace.processes.size() - 1), pid + 1, ""});
  }
  void clock(Ns monotonic_ns, Ns trace_ns, std::uint32_t thread = 0) {
    mark("LLM.clock", fmt::format("monotonic_ns={}", monotonic_ns), trace_ns, thread);
  }
  void mark(const std::string& domain, const std::string& text, Ns time_ns, std::uint32_t thread = 0) {
    trace.marks.push_back({time_ns, trace.strings.intern(text), trace.strings.intern(domain), thread});
  }
};

const std::string kHeader = "nl-stage stacks\t1\nperiod\t10309278\n";
const std::string kFrames =
    "f\t0\t12\tmain\t/code/gen.py\t__main__\t10\tmodel.generate(x)\n"
    "f\t1\t245\tAttention.forward\t/site/modeling.py\ttransformers.models.qwen3.modeling_qwen3\t227\tq = self.q(x)\\t# \\\\n\n"
    "k\t0\t0\n"
    "k\t1\t0,1\n";

Trace joined(TracedProcess process, const std::map<std::string, std::string>& files) {
  const nl::test::Folder folder;
  for (const auto& [name, text] : files) folder.file(name.c_str(), text);
  join_stacks(stack_files(folder.path), process.trace);
  return std::move(process.trace);
}

TracedProcess with_clock() {
  TracedProcess process;
  process.clock(1'000'000, 0);
  return process;
}

}  // namespace

TEST_CASE("stacks: frames, samples and collections stand at the trace's times") {
  const Trace trace = joined(with_clock(), {{"stacks-700.txt", kHeader + kFrames +
                                                                   "s\t1000500\t701\t1\ns\t1000700\t701\t0\ns\t1000800\t701\t1\n"
                                                                   "g\t1000510\t1000590\t701\t2\nc\t1002000\t20\t3\t4\n"}});
  const HostSamples& host = trace.host;
  CHECK(host.sampler == HostSampler::kPython);
  REQUIRE(host.frames.size() == 2);
  CHECK(host.frames[1] ==
        HostFrame{"Attention.forward", "/site/modeling.py", "transformers.models.qwen3.modeling_qwen3", 245, 227, "q = self.q(x)\t# \\n"});
  CHECK(host.stacks == std::vector<std::vector<std::uint32_t>>{{0}, {0, 1}});
  REQUIRE(host.samples.size() == 3);
  CHECK(host.samples[0].time_ns == 500);
  CHECK((host.samples[0].pid == 700 && host.samples[0].tid == 701 && host.samples[0].stack == 1));
  CHECK(host.period_ns == 200);  // 200 and 100: the upper of the two in the middle
  REQUIRE(host.collections.size() == 1);
  CHECK((host.collections[0].start_ns == 510 && host.collections[0].end_ns == 590 && host.collections[0].generation == 2));
  CHECK(host.lost == 4);
  CHECK(host.cost_share == 0.01);  // 20 of the 2,000 from the first mark on
  CHECK(trace.stats.rows_read.at("host samples") == 3);
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(trace.stats.notes.empty());
}

TEST_CASE("stacks: marks of the clock leave the trace, spelled either way, and with no stacks as well") {
  TracedProcess process = with_clock();
  process.mark("", "LLM.clock@monotonic_ns=1000100", 100);
  process.mark("LLM", "tokens prompt=3", 50);
  process.mark("", "first token", 60);
  const Trace trace = joined(std::move(process), {});
  REQUIRE(trace.marks.size() == 2);
  CHECK(trace.strings[trace.marks[0].name] == "tokens prompt=3");
  CHECK(trace.host.sampler == HostSampler::kNone);
  CHECK(trace.stats.notes.empty());
}

TEST_CASE("stacks: one late mark does not move the samples, and a drifting clock is followed") {
  TracedProcess process;
  for (Ns second = 0; second < 20; ++second) {
    const Ns late_ns = second == 7 ? 4'000'000 : 0, drift_ns = 20'000 * second;  // 20 µs a second
    process.clock(1'000'000'000 * second, 1'000'000'000 * second + 5'000 + drift_ns + late_ns);
  }
  const Trace trace =
      joined(std::move(process), {{"stacks-700.txt", kHeader + kFrames + "s\t7000000000\t701\t0\ns\t18000000000\t701\t0\n"}});
  REQUIRE(trace.host.samples.size() == 2);
  CHECK(trace.host.samples[0].time_ns == 7'000'000'000 + 5'000 + 20'000 * 5);  // the smallest offset of 5, 6, 8, 9 and the late one
  CHECK(trace.host.samples[1].time_ns == 18'000'000'000 + 5'000 + 20'000 * 16);
}

TEST_CASE("stacks: a trace that has the clock itself is not moved by late marks") {
  TracedProcess process;
  process.trace.monotonic_start_ns = 1'000'000;
  for (Ns second = 1; second < 4; ++second) process.clock(1'000'000'000 * second, 1'000'000'000 * second - 1'000'000 + 400'000);
  const Trace trace = joined(std::move(process), {{"stacks-700.txt", kHeader + kFrames + "s\t2000000000\t701\t0\n"}});
  REQUIRE(trace.host.samples.size() == 1);
  CHECK(trace.host.samples[0].time_ns == 2'000'000'000 - 1'000'000);
  CHECK(trace.marks.empty());
}

TEST_CASE("stacks: processes share frames, have clocks of their own, and one without is named") {
  TracedProcess process = with_clock();
  process.add(800);
  process.clock(2'000'000, 0, 1);
  const std::string one = kHeader + kFrames + "s\t1000500\t701\t1\n",
                    other = kHeader + kFrames + "s\t2000400\t801\t1\nc\t2001000\t30\t1\t2\n";
  const Trace trace = joined(std::move(process),
                             {{"stacks-700.txt", one}, {"stacks-800.txt", other}, {"stacks-900.txt", one}, {"stacks-901.txt", kHeader}});
  CHECK(trace.host.frames.size() == 2);
  REQUIRE(trace.host.samples.size() == 2);
  CHECK((trace.host.samples[0].time_ns == 400 && trace.host.samples[0].pid == 800 && trace.host.samples[0].stack == 3));
  CHECK((trace.host.samples[1].time_ns == 500 && trace.host.samples[1].pid == 700 && trace.host.samples[1].stack == 1));
  CHECK(trace.host.cost_share == 0.03);
  REQUIRE(trace.stats.notes.size() == 1);  // 901 has nothing to join
  CHECK(trace.stats.notes[0] == Remark{Code::kStacksNotJoined, {"process 900"}});
}

TEST_CASE("stacks: what is damaged is counted, and the rest is kept") {
  const std::string text = kHeader + kFrames +
                           "k\t2\t0,9\n"  // frame 9 is not there
                           "k\t3\t0,x\n"
                           "f\t5\t-1\tf\t/a\tm\t1\t\n"
                           "s\t1000500\t701\t2\n"  // its stack was damaged
                           "s\tsoon\t701\t1\n"
                           "s\t1000500\n"
                           "g\t1000600\t1000500\t701\t0\n"
                           "c\t1\n"
                           "z\t1\n"
                           "s\t1000600\t701\t1\n"
                           "s\t1000700\t70";  // cut
  const Trace trace = joined(with_clock(), {{"stacks-700.txt", text}});
  REQUIRE(trace.host.samples.size() == 1);
  CHECK(trace.host.samples[0].time_ns == 600);
  const std::string where = "stacks-700.txt";
  CHECK(trace.stats.rows_damaged == DamagedRows{{{Code::kUndefined, {"stack", "frame"}, where}, 1},
                                                {{Code::kUndefined, {"sample", "stack"}, where}, 1},
                                                {{Code::kImpossibleNumber, {}, where}, 2},
                                                {{Code::kImpossibleTime, {"sample"}, where}, 2},
                                                {{Code::kImpossibleTime, {"cost"}, where}, 1},
                                                {{Code::kEndsBeforeStart, {"garbage collection"}, where}, 1},
                                                {{Code::kUnknownRecord, {}, where}, 1},
                                                {{Code::kRecordCut, {}, where}, 1}});
}

TEST_CASE("stacks: another file of that name, an empty one and a folder without any change nothing") {
  const Trace trace =
      joined(with_clock(), {{"stacks-700.txt", "nl-stage stacks\t2\ns\t1\t1\t0\n"}, {"stacks-701.txt", ""}, {"stacks.txt", kHeader}});
  CHECK(trace.host.samples.empty());
  CHECK(trace.stats.rows_damaged == DamagedRows{{{Code::kUnknownRecord, {}, "stacks-700.txt"}, 1}});
  Trace untouched;
  join_stacks(stack_files("/nowhere/at/all"), untouched);
  CHECK(untouched.stats.rows_damaged.empty());
}

TEST_CASE("stacks: a process that starts another in its place begins its ids anew") {
  const std::string second = "nl-stage stacks\t1\nf\t0\t3\tother\t/b.py\tb\t1\t\nk\t0\t0\ns\t1000900\t701\t0\ns\t1000950\t701\t1\n";
  const Trace trace = joined(with_clock(), {{"stacks-700.txt", kHeader + kFrames + "s\t1000500\t701\t0\n" + second}});
  REQUIRE(trace.host.samples.size() == 2);
  CHECK(trace.host.frames[trace.host.stacks[trace.host.samples[1].stack][0]].function == "other");
  CHECK(trace.stats.rows_damaged == DamagedRows{{{Code::kUndefined, {"sample", "stack"}, "stacks-700.txt"}, 1}});
}

TEST_CASE("stacks: import knows the files by their first line") {
  const nl::test::Folder folder;
  folder.file("a.txt", kHeader);
  const parsers::Format* format = parsers::sniff(folder.path / "a.txt");
  REQUIRE(format != nullptr);
  CHECK(format->name == "stacks");
}

namespace {

const std::string kNative =
    "nl-stage stacks\t1\nsampler\tperf\nperiod\t10309278\n"
    "f\t0\t0\tmain\t/srv/grains\t\t0\t\nf\t1\t0\tsteer_wind\t/srv/grains\t\t0\t\nk\t0\t0\nk\t1\t0,1\n"
    "s\t1000500\t701\t1\ns\t1000800\t701\t0\nc\t1002000\t20\t2\t4\n";

}  // namespace

TEST_CASE("stacks: native ones need no marks of a clock where the trace has the clock itself") {
  TracedProcess process;
  process.trace.monotonic_start_ns = 1'000'000;
  const Trace trace = joined(std::move(process), {{"stacks-700.txt", kNative}, {"stacks-900.txt", kNative}});
  const HostSamples& host = trace.host;
  CHECK(host.sampler == HostSampler::kPerf);
  REQUIRE(host.samples.size() == 2);
  CHECK((host.samples[0].time_ns == 500 && host.samples[0].pid == 700 && host.samples[0].tid == 701));
  CHECK(host.frames.at(host.stacks.at(host.samples[0].stack).back()).function == "steer_wind");
  CHECK(host.lost == 4);
  CHECK(trace.stats.notes.empty());  // process 900 is not in the trace: nothing is missing
  CHECK(trace.stats.rows_damaged.empty());
}

TEST_CASE("stacks: Python's samples beside native ones give the sampler its name") {
  TracedProcess process = with_clock();
  process.trace.monotonic_start_ns = 1'000'000;
  process.add(800);
  const Trace trace =
      joined(std::move(process), {{"stacks-700.txt", kHeader + kFrames + "s\t1000500\t701\t1\n"}, {"stacks-800.txt", kNative}});
  CHECK(trace.host.sampler == HostSampler::kPython);
  CHECK(trace.host.samples.size() == 3);
}

TEST_CASE("stacks: times that no machine shows are damaged") {
  TracedProcess process;
  process.trace.monotonic_start_ns = 1'000'000;
  const std::string text = kNative + "s\t-5\t701\t1\ns\t9223372036854775807\t701\t1\nsampler\tsomebody\n";
  const Trace trace = joined(std::move(process), {{"stacks-700.txt", text}});
  CHECK(trace.host.samples.size() == 2);
  CHECK(trace.stats.rows_damaged ==
        DamagedRows{{{Code::kImpossibleTime, {"sample"}, "stacks-700.txt"}, 2}, {{Code::kUnknownRecord, {}, "stacks-700.txt"}, 1}});
}

TEST_CASE("stacks: a file with changed, missing or doubled bytes is read without harm") {
  std::mt19937 dice(3);
  const auto pick = [&](std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(dice); };
  for (int round = 0; round < 400; ++round) {
    std::string text = kNative + "g\t1000510\t1000590\t701\t2\n";
    for (std::size_t change = 0, changes = pick(6) + 1; change < changes && !text.empty(); ++change) {
      const std::size_t at = pick(text.size());
      switch (pick(5)) {
        case 0: text[at] = static_cast<char>(pick(256)); break;
        case 1: text.erase(at, pick(12) + 1); break;
        case 2: text.insert(at, text.substr(pick(text.size()), 20)); break;
        case 3: text.insert(at, "99999999999999999999"); break;
        default: text.resize(at + 1); break;
      }
    }
    TracedProcess process;
    process.trace.monotonic_start_ns = 1'000'000;
    const Trace trace = joined(std::move(process), {{"stacks-700.txt", text}});
    for (const HostSample& sample : trace.host.samples) {
      REQUIRE(sample.stack < trace.host.stacks.size());
      for (const std::uint32_t frame : trace.host.stacks[sample.stack]) REQUIRE(frame < trace.host.frames.size());
    }
  }
}
