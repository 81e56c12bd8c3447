#include "parsers/stacks/stacks.h"

#include <fmt/format.h>

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
  CHECK(trace.host.samples[0].time_ns == 7'000'000'000 + 5'000 + 20'000 * 8);  // the offsets of 5, 6, 8, 9 and the late one: the third
  CHECK(trace.host.samples[1].time_ns == 18'000'000'000 + 5'000 + 20'000 * 18);
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
