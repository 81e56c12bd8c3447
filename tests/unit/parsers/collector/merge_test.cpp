// How the files of several processes become one trace. What is in it, line by line: golden/traces/collector.txt.
#include "parsers/collector/trace.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "parsers/collector/merge.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/parsers/collector/made_capture.h"
#include "tests/unit/remark_texts.h"

using namespace nl;
using nl::parsers::CallRows;
using nl::parsers::read_collector_traces;
using nl::test::CounterFile;
using nl::test::packed_record;
using nl::test::zigzag;
using trace_format::CallChoice;
using trace_format::Tag;

namespace {

template <typename Row>
std::vector<Ns> starts_of(const std::vector<Row>& rows) {
  std::vector<Ns> starts;
  for (const Row& row : rows) starts.push_back(row.start_ns);
  return starts;
}

// One process, from 1000 on, with a range from 1100 to 1200 and these packed records, which count from 1000.
Trace read_block(const std::string& records, CallChoice calls = CallChoice::kWork, bool session = true) {
  CounterFile file(100, 1000);
  file.thread(11).string(1, "step").push(1, 1100).pop(1200).thread(0).name(1, "k").name(2, "cudaLaunchKernel");
  if (session) test::add_session(file, calls, false);
  test::add_block(file, 1000,
                  packed_record(Tag::kShape, {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}) + packed_record(Tag::kQueue, {0, 0, 1, 7}) +
                      packed_record(Tag::kThread, {0, 11, 0}) + packed_record(Tag::kFunction, {0, 2, 2}) + records);
  const test::Folder folder;
  return read_collector_traces({folder.file("trace", file.whole())});
}

const std::string kLateKernel = packed_record(Tag::kKernel, {0, 0, zigzag(900), 100, zigzag(1)});
const std::string kLateCopy = packed_record(Tag::kCopy, {0, 1, 1, 3, zigzag(900), 100, zigzag(1), 64});
const std::string kLateGraph = packed_record(Tag::kGraph, {0, 3, zigzag(900), 100, zigzag(1)});
const std::string kLateCall = packed_record(Tag::kCall, {0, 0, zigzag(900), 100, zigzag(1)});

}  // namespace

// The client's kernel at 700 ran from a clone of node 7, which its thread 12 made; the server's node of one number is another.
TEST_CASE("merge: a kernel of a graph keeps its node when rows are put in order") {
  const test::Folder folder;
  const Trace trace = read_collector_traces(test::write_made_capture(folder));
  REQUIRE(trace.kernel_nodes.size() == 4);
  CHECK(std::vector<std::uint32_t>(trace.kernel_nodes.begin() + 1, trace.kernel_nodes.end()) == std::vector<std::uint32_t>(3, kNone));
  const GraphNode& node = trace.graph_nodes.at(trace.kernel_nodes[0]);
  CHECK(node.made_ns == 610);
  CHECK(trace.threads.at(node.thread).tid == 12);
  CHECK(trace.mem_op_nodes.empty());
}

TEST_CASE("merge: nodes of a time or a thread that cannot be are counted") {
  CounterFile file(100, 1000);
  file.thread(11);
  test::add_node(file, -1, 5);
  file.thread(0);
  test::add_node(file, 1500, 5);
  const test::Folder folder;
  const Trace trace = read_collector_traces({folder.file("trace", file.whole())});
  CHECK(trace.stats.rows_damaged.at({Code::kImpossibleRecord}) == 2);
}

TEST_CASE("merge: rows of several processes come by time, calls by thread and time") {
  const test::Folder folder;
  const Trace trace = read_collector_traces(test::write_made_capture(folder));
  CHECK(starts_of(trace.kernels) == std::vector<Ns>{700, 800, 850, 1000});
  CHECK(starts_of(trace.mem_ops) == std::vector<Ns>{650, 1050, 1100});
  CHECK(starts_of(trace.graph_runs) == std::vector<Ns>{800, 1250});
  CHECK(starts_of(trace.syncs) == std::vector<Ns>{800, 900, 920, 1100, 1320, 1400});
  std::vector<std::pair<std::uint32_t, Ns>> calls;
  for (const ApiCall& call : trace.api_calls) calls.emplace_back(trace.threads.at(call.thread).tid, call.start_ns);
  CHECK(calls == std::vector<std::pair<std::uint32_t, Ns>>{
                     {21, 700}, {21, 750}, {21, 900}, {21, 920}, {21, 1320}, {21, 1370}, {23, 850}, {23, 1400}, {11, 620}});
  CHECK(starts_of(trace.ranges) == std::vector<Ns>{100, 100, 150, 500, 600});
  CHECK(trace.ranges[0].end_ns == 1500);  // of two that start at once the longer one first
  REQUIRE(trace.marks.size() == 2);
  CHECK(trace.marks[0].time_ns == 200);
  CHECK(trace.marks[1].time_ns == 1400);
}

TEST_CASE("merge: of calls that neither launched nor waited the long ones are kept, by thread and time") {
  const auto call = [](std::int64_t start, std::uint64_t duration) {
    return packed_record(Tag::kCall, {0, 0, zigzag(start), duration, zigzag(1)});
  };
  const Trace trace =
      read_block(kLateKernel + call(900, 6000) + call(-300, 4999) + call(200, 5000) + call(-100, 7000));  // the first one launches
  CHECK(starts_of(trace.api_calls) == std::vector<Ns>{900});
  CHECK(starts_of(trace.other_calls) == std::vector<Ns>{700, 800});
}

TEST_CASE("merge: ranges and marks come by time, whichever process began first") {
  using trace_format::Kind;
  CounterFile first(100, 1000), second(200, 1500);
  first.thread(11).string(1, "late").push(1, 5000).pop(6000).add(Kind::kMark, trace_format::Event{{}, 5500, 0, 0}, 1);
  second.thread(21).string(1, "early").push(1, 2000).pop(3000).add(Kind::kMark, trace_format::Event{{}, 2500, 0, 0}, 1);
  const test::Folder folder;
  const Trace trace = read_collector_traces({folder.file("first", first.whole()), folder.file("second", second.whole())});
  CHECK(starts_of(trace.ranges) == std::vector<Ns>{1000, 4000});
  REQUIRE(trace.marks.size() == 2);
  CHECK((trace.marks[0].time_ns == 1500 && trace.marks[1].time_ns == 4500));
}

TEST_CASE("merge: a started range that nobody ended ends with the capture, and so does one that nobody popped") {
  using trace_format::Kind;
  CounterFile file(100, 1000);
  file.thread(11).string(1, "a").add(Kind::kStart, trace_format::Start{{}, 1500, 0, 0, 31}, 1).push(1, 1600).push(1, 1700).pop(2500);
  const test::Folder folder;
  const Trace trace = read_collector_traces({folder.file("file", file.whole())});
  REQUIRE(trace.ranges.size() == 3);
  CHECK((trace.ranges[0].open && trace.ranges[1].open && !trace.ranges[2].open));
  CHECK((trace.ranges[0].end_ns == 1500 && trace.ranges[1].end_ns == 1500 && trace.ranges[2].end_ns == 1500));
}

TEST_CASE("merge: what is the same in two processes is there once, their streams are not the same") {
  const test::Folder folder;
  const Trace trace = read_collector_traces(test::write_made_capture(folder));
  CHECK(trace.shapes.size() == 2);
  CHECK(trace.queues == std::vector<Queue>{{0, 1, 5, 8}, {0, 1, 5, 9}, {1, 2, 6, 8}});
  REQUIRE(trace.devices.size() == 3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(trace.devices[i].id == static_cast<std::int32_t>(i));
    CHECK(trace.devices[i].l2_bytes == 401 + i);
  }
  REQUIRE(trace.metric_series.size() == 1);
  CHECK(trace.metric_series[0].start_ns == std::vector<Ns>{900, 1000});
  CHECK(trace.metric_series[0].duration_ns == std::vector<std::uint32_t>{300, 500});
  CHECK(trace.stalls.size() == 2);
  REQUIRE(trace.clock);
  CHECK(trace.clock->contradictions == 3);
  CHECK(trace.processes[0].name == "server");
  CHECK(trace.processes[1].name == "client");
  std::vector<std::uint32_t> waiting;
  for (const SyncWait& wait : trace.syncs) waiting.push_back(wait.where.process);
  CHECK(waiting == std::vector<std::uint32_t>{1, 0, 0, 1, 0, 0});
}

TEST_CASE("merge: whatever ends last ends the capture, the range in it too") {
  CHECK(read_block("").duration_ns == 200);
  CHECK(read_block(kLateKernel).duration_ns == 1000);
  CHECK(read_block(kLateCopy).duration_ns == 1000);
  CHECK(read_block(kLateGraph).duration_ns == 1000);
  CHECK(read_block(kLateCall).duration_ns == 1000);
  const std::string early =
      packed_record(Tag::kKernel, {0, 0, zigzag(50), 10, zigzag(1)}) + packed_record(Tag::kGraph, {0, 3, zigzag(5), 10, zigzag(1)}) +
      packed_record(Tag::kCopy, {0, 1, 1, 3, zigzag(5), 10, zigzag(1), 64}) + packed_record(Tag::kCall, {0, 0, zigzag(50), 10, zigzag(1)});
  CHECK(read_block(early).duration_ns == 200);
}

TEST_CASE("merge: a session says what could be recorded, and so does work without one") {
  struct Case {
    std::string records;
    CallChoice calls;
    bool session, work, api;
  };
  const Case cases[] = {{"", CallChoice::kWork, true, true, true},
                        {"", CallChoice::kNone, true, true, false},
                        {"", CallChoice::kAll, true, true, true},
                        {"", CallChoice::kWork, false, false, false},
                        {kLateKernel, CallChoice::kWork, false, true, false},
                        {kLateCopy, CallChoice::kWork, false, true, false},
                        {kLateGraph, CallChoice::kWork, false, true, false},
                        {kLateCall, CallChoice::kWork, false, false, false}};
  for (const Case& c : cases) {
    INFO(c.records.size() << " " << static_cast<int>(c.calls) << " " << c.session);
    const Trace trace = read_block(c.records, c.calls, c.session);
    CHECK(trace.has_kernel_data == c.work);
    CHECK(trace.has_mem_data == c.work);
    CHECK(trace.has_api_data == c.api);
    CHECK(trace.stats.rows_read.count("kernels") == (c.work ? 1 : 0));
    CHECK(trace.stats.rows_read.count("CUDA graphs as wholes") == (c.records == kLateGraph ? 1 : 0));
    CHECK(trace.stats.rows_damaged.empty());
  }
}

TEST_CASE("waits of calls: of which kind, and for which stream a thread noted last") {
  using parsers::collector_trace::GpuData;
  using trace_format::kNoStream;
  const auto told = [](std::vector<parsers::collector_trace::GpuQueue> queues, bool by_calls = true) {
    GpuData gpu;
    gpu.waits_by_calls = by_calls;
    gpu.names = {{1, "cudaStreamSynchronize_v3020"}, {2, "cudaDeviceSynchronize"}, {3, "cudaEventSynchronize"}, {4, "cudaLaunchKernel"}};
    gpu.functions = {1, 2, 3, 4, 99};
    gpu.queues = std::move(queues);
    gpu.threads = {{21, ""}, {22, ""}, {20, ""}};
    gpu.context_devices = {{5, 4}, {7, 2}};
    // Not in the order of time: they are written chunk by chunk.
    gpu.streams_waited = {{21, 400, 5, kNoStream}, {21, 100, 5, 8}, {21, 200, 7, 4}, {22, 50, 5, 9}, {21, 300, 66, 3}};
    const auto call = [&](std::uint32_t function, std::uint32_t thread, Ns end_ns, bool failed = false) {
      if (failed) gpu.failed_calls.push_back(gpu.calls.size());
      ApiCall made;
      made.name = StringId{function};
      made.thread = thread;
      made.start_ns = end_ns - 10;
      made.duration_ns = 10;
      made.correlation = static_cast<std::uint32_t>(gpu.calls.size());
      gpu.calls.push_back(made);
    };
    for (const Ns end_ns : {99, 100, 199, 200, 300, 400, 500}) call(0, 0, end_ns);
    call(0, 1, 1000);
    call(0, 2, 1000);
    call(0, 0, 150, true);
    for (const std::uint32_t function : {1, 2, 3, 4, 5}) call(function, 0, 150);
    parsers::collector_trace::add_waits_of_calls(gpu);
    std::string text;
    for (const SyncWait& wait : gpu.syncs)
      text +=
          fmt::format("{}: {} {}-{} {}/{}/{} ", wait.correlation, static_cast<int>(wait.kind), wait.start_ns, wait.end_ns,
                      wait.where.device, wait.where.context, wait.where.stream == kNoStream ? "any" : std::to_string(wait.where.stream));
    return text;
  };
  const std::string noted =
      "1: 3 90-100 1/5/8 2: 3 189-199 1/5/8 3: 3 190-200 2/7/4 4: 3 290-300 0/66/3 5: 3 390-400 0/0/any 6: 3 490-500 0/0/any 7: 3 990-1000 "
      "1/5/9 ";
  CHECK(told({{1, 5, 8}}) == "0: 3 89-99 1/5/8 " + noted + "8: 3 990-1000 1/5/8 10: 4 140-150 1/5/any 11: 1 140-150 1/5/8 ");
  CHECK(told({{1, 5, 8}, {1, 5, 9}}) ==
        "0: 3 89-99 1/5/any " + noted + "8: 3 990-1000 1/5/any 10: 4 140-150 1/5/any 11: 1 140-150 1/5/any ");
  CHECK(told({{1, 5, 8}, {1, 6, 8}}) ==
        "0: 3 89-99 0/0/any " + noted + "8: 3 990-1000 0/0/any 10: 4 140-150 0/0/any 11: 1 140-150 0/0/any ");
  CHECK(told({{1, 5, 8}}, false).empty());
}

namespace {

// One process from 1000 on, whose last kernel ends at 2000 and whose last call at 1960.
Trace read_tracing(const std::vector<std::pair<std::uint32_t, Ns>>& changes, Ns session_ns = 1050) {
  CounterFile file(100, 1000);
  file.thread(11).string(1, "step").push(1, 1100).pop(1200).thread(0).name(1, "k").name(2, "cudaLaunchKernel");
  file.add(trace_format::Kind::kGpuSession, trace_format::GpuSession{{}, session_ns, static_cast<std::uint32_t>(CallChoice::kWork), 1}, 26);
  for (const auto& [what, time_ns] : changes) file.add(trace_format::Kind::kTracing, trace_format::Tracing{{}, time_ns}, what);
  test::add_block(file, 1000,
                  packed_record(Tag::kShape, {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}) + packed_record(Tag::kQueue, {0, 0, 1, 7}) +
                      packed_record(Tag::kThread, {0, 11, 0}) + packed_record(Tag::kFunction, {0, 2, 2}) + kLateKernel +
                      packed_record(Tag::kCall, {0, 0, zigzag(900), 60, zigzag(1)}));
  const test::Folder folder;
  return read_collector_traces({folder.file("trace", file.whole())});
}

using SpanTimes = std::vector<std::tuple<Ns, Ns, Ns>>;  // start, last begin, end

SpanTimes spans_of(const Trace& trace) {
  SpanTimes times;
  if (trace.duty)
    for (const TracedSpan& span : trace.duty->spans) times.emplace_back(span.start_ns, span.last_begin_ns, span.end_ns);
  return times;
}

}  // namespace

TEST_CASE("merge: when a process was traced, by its own records") {
  using trace_format::kTracingEnds, trace_format::kTracingOff, trace_format::kTracingOn;
  CHECK_FALSE(read_tracing({}).duty);
  // From the session on, since the first change is not that it begins.
  CHECK(spans_of(read_tracing({{kTracingOff, 1300}})) == SpanTimes{{50, 300, 300}});
  CHECK(spans_of(read_tracing({{kTracingOff, 1060}, {kTracingOn, 1400}, {kTracingOff, 1500}})) == SpanTimes{{50, 60, 60}, {400, 500, 500}});
  // What begins after 1400 may end outside.
  CHECK(spans_of(read_tracing({{kTracingEnds, 1400}, {kTracingOff, 1500}})) == SpanTimes{{50, 400, 500}});
  // Chosen again before it was off: both are traced to the same end.
  CHECK(spans_of(read_tracing({{kTracingEnds, 1400}, {kTracingOn, 1450}, {kTracingEnds, 1480}, {kTracingOff, 1500}})) ==
        SpanTimes{{50, 400, 500}, {450, 480, 500}});
  // Killed while it was traced: until the last that was written.
  CHECK(spans_of(read_tracing({{kTracingOff, 1300}, {kTracingOn, 1700}})) == SpanTimes{{50, 300, 300}, {700, 1000, 1000}});
  CHECK(spans_of(read_tracing({{kTracingOff, 1300}, {kTracingOn, 2100}})) == SpanTimes{{50, 300, 300}, {1100, 1100, 1100}});
}
