// The collector, in real processes: what they recorded is read back and compared with what they did.
#include <algorithm>
#include <fstream>
#include <set>

#include "collector/trace_format.h"
#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/collector/injected_program.h"
#include "tests/unit/remark_texts.h"

using namespace nl;
using namespace nl::parsers;
using namespace nl::test;

namespace {

std::vector<std::string> mark_names(const Trace& trace) {
  std::vector<std::string> names;
  for (const Mark& mark : trace.marks) names.push_back(trace.strings[mark.domain] + ":" + trace.strings[mark.name]);
  return names;
}

std::size_t open_count(const Trace& trace) {
  return static_cast<std::size_t>(std::count_if(trace.ranges.begin(), trace.ranges.end(), [](const Range& r) { return r.open; }));
}

bool inside(const Range& inner, const Range& outer) { return outer.start_ns <= inner.start_ns && inner.end_ns <= outer.end_ns; }

}  // namespace

TEST_CASE("stages, operators and steps come back with domain, nesting and payload") {
  ScratchFolder folder;
  Outcome outcome = run_program({"everything"}, folder.path());
  REQUIRE(outcome.exit_status == 0);
  CHECK(outcome.err.empty());
  Trace trace = read_folder(folder.path());
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(trace.has_range_data);
  CHECK_FALSE(trace.has_kernel_data);
  REQUIRE(trace.processes.size() == 1);
  CHECK(trace.processes[0].name == "nvtx_program");

  auto prefill = ranges_named(trace, "LLM", "prefill");
  auto attention = ranges_named(trace, "LLM.ops", "attention");
  auto steps = ranges_named(trace, "LLM", "decode_step");
  auto decode = ranges_named(trace, "LLM", "decode_all");
  REQUIRE((prefill.size() == 1 && attention.size() == 1 && steps.size() == 3 && decode.size() == 1));
  CHECK(inside(attention[0], prefill[0]));
  auto layer = ranges_named(trace, "LLM.layers", "model.layers.0|Block");
  REQUIRE(layer.size() == 1);
  CHECK(inside(attention[0], layer[0]));
  CHECK(attention[0].payload == 3);
  CHECK_FALSE(prefill[0].payload.has_value());
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(steps[i].payload == static_cast<std::int64_t>(i));
    CHECK(inside(steps[i], decode[0]));
  }
  CHECK(prefill[0].end_ns <= decode[0].start_ns);
}

TEST_CASE("every way of naming a range is read") {
  ScratchFolder folder;
  REQUIRE(run_program({"everything"}, folder.path()).exit_status == 0);
  Trace trace = read_folder(folder.path());
  CHECK(ranges_named(trace, "", "LLM@prefill").size() == 1);
  CHECK(ranges_named(trace, "", "größe 大 🙂").size() == 1);
  CHECK(ranges_named(trace, "",
                     "\x7f"
                     "\xc2\x80"
                     "\xdf\xbf"
                     "\xe0\xa0\x80"
                     "\xef\xbf\xbf"
                     "\xf0\x90\x80\x80")
            .size() == 1);
  CHECK(ranges_named(trace, "other", "registered").size() == 1);
  CHECK(ranges_named(trace, "other", "").size() == 1);
  CHECK(mark_names(trace) == std::vector<std::string>{"LLM:begin", "LLM:tokens prompt=256 batch=2", ":default mark", ":last"});
  CHECK(trace.threads.size() == 2);
  CHECK(trace.threads[0].name == "the main thread");
}

TEST_CASE("start/end ranges may cross threads, and open ones end with the capture") {
  ScratchFolder folder;
  REQUIRE(run_program({"everything"}, folder.path()).exit_status == 0);
  Trace trace = read_folder(folder.path());
  auto same = ranges_named(trace, "", "same thread");
  auto crossing = ranges_named(trace, "", "crossing");
  auto worker = ranges_named(trace, "", "worker");
  REQUIRE((same.size() == 1 && crossing.size() == 1 && worker.size() == 1));
  CHECK(same[0].style == RangeStyle::kStartEnd);
  CHECK(same[0].end_thread == kNone);
  CHECK(crossing[0].end_thread == worker[0].thread);
  CHECK(crossing[0].thread != worker[0].thread);
  CHECK(crossing[0].end_ns <= worker[0].end_ns);
  for (const char* name : {"left open", "never ended"}) {
    auto open = ranges_named(trace, "", name);
    REQUIRE(open.size() == 1);
    CHECK(open[0].open);
    CHECK(open[0].end_ns == trace.duration_ns);
  }
  CHECK(open_count(trace) == 2);
}

TEST_CASE("threads do not mix, over many chunks") {
  ScratchFolder folder;
  constexpr int kThreads = 8, kEach = 5000;
  REQUIRE(run_program({"threads", std::to_string(kThreads), std::to_string(kEach)}, folder.path()).exit_status == 0);
  Trace trace = read_folder(folder.path());
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(open_count(trace) == 0);
  CHECK(trace.ranges.size() == kThreads * (1 + 2 * kEach));
  for (int t = 0; t < kThreads; ++t) {
    auto outer = ranges_named(trace, "", "thread " + std::to_string(t));
    REQUIRE(outer.size() == 1);
    std::int64_t next = 0;
    bool ordered = true;
    for (const Range& range : trace.ranges)
      if (range.thread == outer[0].thread && range.payload) ordered = ordered && *range.payload == next++ && inside(range, outer[0]);
    CHECK(ordered);
    CHECK(next == kEach);
  }
}

TEST_CASE("threads that end leave their chunk to the next") {
  ScratchFolder folder;
  REQUIRE(run_program({"short-threads", "300"}, folder.path()).exit_status == 0);
  auto files = trace_files(folder.path());
  REQUIRE(files.size() == 1);
  CHECK(std::filesystem::file_size(files[0]) <= 2 * 64 * 1024);
  CHECK(ranges_named(read_folder(folder.path()), "", "short").size() == 300);
}

TEST_CASE("what the collector allocated is still reachable at the exit") {
  for (std::vector<std::string> mode : {std::vector<std::string>{"everything"}, {"short-threads", "50"}, {"fork"}}) {
    ScratchFolder folder;
    Outcome outcome = run_program(mode, folder.path(), kLeakCheck);
    INFO(mode[0] << ": " << outcome.err);
    CHECK(outcome.exit_status == 0);
    CHECK(outcome.err.empty());
  }
}

TEST_CASE("children that fork without exec write files of their own") {
  ScratchFolder folder;
  REQUIRE(run_program({"fork"}, folder.path()).exit_status == 0);
  CHECK(trace_files(folder.path()).size() == 3);
  Trace trace = read_folder(folder.path());
  CHECK(trace.stats.rows_damaged.empty());
  REQUIRE(trace.processes.size() == 3);
  CHECK(ranges_named(trace, "", "parent").size() == 5 + 2 * 2);
  CHECK(ranges_named(trace, "", "after fork").size() == 3);
  CHECK(ranges_named(trace, "", "child thread").size() == 2);
  auto children = ranges_named(trace, "before fork", "child");
  REQUIRE(children.size() == 2);
  std::set<std::uint32_t> processes;
  for (const Range& range : children) processes.insert(trace.threads[range.thread].process);
  CHECK(processes == std::set<std::uint32_t>{1, 2});
}

TEST_CASE("a process that replaces itself keeps its earlier file") {
  ScratchFolder folder;
  REQUIRE(run_program({"exec-self", "2"}, folder.path()).exit_status == 0);
  CHECK(trace_files(folder.path()).size() == 3);
  CHECK(ranges_named(read_folder(folder.path()), "", "pair").size() == 3);
}

TEST_CASE("_exit and SIGKILL lose nothing that was recorded") {
  for (auto [mode, status] : {std::pair("_exit", 3), std::pair("kill", 128 + 9)}) {
    ScratchFolder folder;
    REQUIRE(run_program({mode, "4000"}, folder.path()).exit_status == status);
    Trace trace = read_folder(folder.path());
    CHECK(trace.stats.rows_damaged.empty());
    CHECK(trace.stats.notes.empty());  // killed, and not cut
    CHECK(ranges_named(trace, "", "pair").size() == 4000);
    auto open = ranges_named(trace, "", "open");
    REQUIRE(open.size() == 1);
    CHECK(open[0].open);
  }
}

TEST_CASE("SIGKILL in the middle of busy threads loses at most a record of each") {
  for (int round = 0; round < 5; ++round) {
    ScratchFolder folder;
    REQUIRE(run_program({"kill-busy"}, folder.path()).exit_status == 128 + 9);
    Trace trace = read_folder(folder.path());
    CHECK(trace.stats.rows_damaged.empty());
    CHECK(trace.ranges.size() >= 3000);
    CHECK(open_count(trace) <= 3);
  }
}

TEST_CASE("a daemon that closes all descriptors is recorded and its files left alone") {
  ScratchFolder folder;
  CHECK(run_program({"daemon"}, folder.path()).exit_status == 0);
  Trace trace = read_folder(folder.path());
  CHECK(ranges_named(trace, "", "before").size() == 10);
  CHECK(ranges_named(trace, "", "after").size() == 10000);
}

TEST_CASE("push and pop return the depth, domain by domain") {
  ScratchFolder folder;
  CHECK(run_program({"depths"}, folder.path()).exit_status == 0);
  CHECK(texts_of(read_folder(folder.path()).stats.rows_damaged) == std::map<std::string, std::uint64_t>{{"pop without a push", 1}});
}

TEST_CASE("an overlong name is cut") {
  ScratchFolder folder;
  REQUIRE(run_program({"long"}, folder.path()).exit_status == 0);
  CHECK(ranges_named(read_folder(folder.path()), "", std::string(4096, 'x')).size() == 1);
}

TEST_CASE("a folder that cannot be used is said once, and the program goes on") {
  ScratchFolder folder;
  std::filesystem::path absent = folder.path() / "absent";
  Outcome outcome = run_program({"threads", "4", "100"}, absent);
  CHECK(outcome.exit_status == 0);
  CHECK(outcome.err == "nl-stage collector: cannot use folder " + absent.string() + ": No such file or directory; nothing is recorded\n");
  CHECK_FALSE(std::filesystem::exists(absent));

  std::filesystem::path file = folder.path() / "file";
  std::ofstream(file) << "x";
  outcome = run_program({"pairs", "10"}, file);
  CHECK(outcome.exit_status == 0);
  CHECK(outcome.err.find("nl-stage collector: cannot write") == 0);
}

TEST_CASE("where the file may not grow, the program goes on and the beginning is kept") {
  ScratchFolder folder;
  Outcome outcome = run_program({"limit", "20000"}, folder.path());
  CHECK(outcome.exit_status == 0);
  CHECK(outcome.err.find("nl-stage collector: cannot extend") == 0);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  Trace trace = read_folder(folder.path());
  std::size_t kept = ranges_named(trace, "", "pair").size();
  CHECK(kept > 1000);
  CHECK(kept < 20000);
  const auto size = std::filesystem::file_size(trace_files(folder.path()).at(0));
  REQUIRE(trace.stats.notes.size() == 1);
  CHECK(trace.stats.notes[0].code == Code::kCaptureStopped);
  CHECK(trace.stats.notes[0].details == std::vector{std::to_string(size)});
}

TEST_CASE("a recorded trace cut at any byte gives the records before it") {
  ScratchFolder folder;
  REQUIRE(run_program({"everything"}, folder.path()).exit_status == 0);
  std::filesystem::path whole = trace_files(folder.path()).at(0);
  std::string bytes = read_text(whole);
  Trace full = read_collector_traces({whole});
  std::filesystem::path cut = folder.path() / "cut";
  std::filesystem::copy_file(whole, cut);
  std::size_t ranges_before = full.ranges.size(), marks_before = full.marks.size();
  bool shrinking = true, noticed = true;
  const auto cut_at = [&](const Trace& trace, std::size_t length) {
    const Remark* note = find_first(trace.stats.notes, {Code::kCaptureCut});
    return note != nullptr && note->details == std::vector{std::to_string(length), std::to_string(bytes.size())} && note->where == "cut";
  };
  CHECK(full.stats.notes.empty());
  for (std::size_t length = bytes.size(); length-- > 0;) {
    if (!in_use(bytes, length) && length % 4096 != 1) continue;
    std::filesystem::resize_file(cut, length);
    Trace trace = read_collector_traces({cut});
    shrinking = shrinking && trace.ranges.size() <= ranges_before && trace.marks.size() <= marks_before;
    noticed = noticed && (length < sizeof(trace_format::FileHeader) ? !trace.stats.rows_damaged.empty() : cut_at(trace, length));
    ranges_before = trace.ranges.size();
    marks_before = trace.marks.size();
  }
  CHECK(shrinking);
  CHECK(noticed);
  CHECK(ranges_before == 0);
}

TEST_CASE("thousands of names each come back as themselves") {
  ScratchFolder folder;
  constexpr int kNames = 5000;  // the table begins with 1,024 places and doubles
  REQUIRE(run_program({"names", std::to_string(kNames)}, folder.path()).exit_status == 0);
  Trace trace = read_folder(folder.path());
  CHECK(trace.stats.rows_damaged.empty());
  REQUIRE(trace.ranges.size() == 2 * kNames);
  int wrong = 0;
  for (int i = 0; i < 2 * kNames; ++i)
    wrong += trace.strings[trace.ranges[static_cast<std::size_t>(i)].name] != "name " + std::to_string(i % kNames);
  CHECK(wrong == 0);
}

TEST_CASE("a signal inside the recorder breaks no record, and the program's own ranges are all there") {
  ScratchFolder folder;
  constexpr int kPairs = 200'000;
  REQUIRE(run_program({"signals", std::to_string(kPairs)}, folder.path()).exit_status == 0);
  Trace trace = read_folder(folder.path());
  CHECK(trace.stats.rows_damaged.empty());
  const std::size_t handled = ranges_named(trace, "", "in handler").size();
  CHECK(handled > 0);
  CHECK(trace.ranges.size() - handled == kPairs + 1);
}

TEST_CASE("a thread that forked may end in the child, whose other threads go on") {
  ScratchFolder folder;
  REQUIRE(run_program({"fork-in-thread"}, folder.path()).exit_status == 0);
  REQUIRE(trace_files(folder.path()).size() == 2);
  Trace trace = read_folder(folder.path());
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(open_count(trace) == 0);
  const std::pair<const char*, std::size_t> expected[] = {{"before", 3}, {"child", 2}, {"grandchild", 20}, {"last", 1}, {"after", 1}};
  for (const auto& [name, count] : expected) {
    INFO(name);
    CHECK(ranges_named(trace, "", name).size() == count);
  }
}

TEST_CASE("an overlong name is cut between characters") {
  ScratchFolder folder;
  REQUIRE(run_program({"cut"}, folder.path()).exit_status == 0);
  Trace trace = read_folder(folder.path());
  CHECK(trace.stats.rows_damaged.empty());  // what is not UTF-8 would be counted
  REQUIRE(trace.ranges.size() == 4);
  const std::string expected[] = {std::string(4096, 'x'), std::string(4095, 'x'), std::string(4094, 'x'), std::string(4093, 'x') + "大"};
  for (std::size_t i = 0; i < 4; ++i) CHECK(trace.strings[trace.ranges[i].name] == expected[i]);
}
