#include "parsers/inspector/inspector.h"

#include <fmt/format.h>

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/parsers/flight_recorder/made_dumps.h"

using namespace nl;
using namespace nl::parsers;
using nl::test::MadeDumps;
using nl::test::ScratchFile;

namespace {

std::string line(int sequence, const std::string& time = "100", const std::string& more = "") {
  return fmt::format(
      R"({{"header":{{"id":"0x1","comm_name":"tp","rank":1,"n_ranks":2,"nnodes":1}},"metadata":{{"hostname":"h","pid":7}},)"
      R"("coll_perf":{{"coll":"AllReduce","coll_sn":{},"coll_msg_size_bytes":4096,"coll_exec_time_us":{},"coll_timing_source":"kernel_gpu",)"
      R"("coll_algobw_gbs":1.5,"coll_busbw_gbs":1.5{}}}}})",
      sequence, time, more);
}

}  // namespace

TEST_CASE("inspector: a line is a call, and calls of one kind and size are a series") {
  const MadeDumps made("inspector");
  const InspectorFile file = read_inspector(made.folder / "node0-pid4001.log");
  REQUIRE(file.series.size() == 2);
  const TimedCalls& reduces = file.series[0];
  CHECK(reduces.communicator == "0x9f3c");
  CHECK(reduces.rank == 1);
  CHECK(reduces.ranks == 4);
  CHECK(reduces.host == "node0");
  CHECK(reduces.pid == 4001);
  CHECK(reduces.kind == "AllReduce");
  CHECK(reduces.size_bytes == 4u << 20);
  CHECK(reduces.source == TimingSource::kGpuKernel);
  REQUIRE(reduces.calls.size() == 20);
  CHECK(reduces.calls[3].sequence == 7);
  CHECK(reduces.calls[3].time_us == 103);
  CHECK(reduces.calls[3].algorithm_gbs == Approx(41.94304 / 1.03).epsilon(1e-4));
  CHECK(reduces.calls[3].bus_gbs == Approx(1.5 * 41.94304 / 1.03).epsilon(1e-4));
  CHECK(file.lines_damaged == 0);
}

TEST_CASE("inspector: verbose lines, names of communicators, sends, times with a fraction") {
  const std::string send =
      R"({"header":{"id":"0x1","rank":0,"n_ranks":2,"nnodes":1},"metadata":{},"p2p_perf":{"p2p":"Send","p2p_sn":4,"p2p_peer":1,)"
      R"("p2p_msg_size_bytes":64,"p2p_exec_time_us":2.5,"p2p_timing_source":"kernel_cpu","p2p_algobw_gbs":1,"p2p_busbw_gbs":1}})";
  const ScratchFile scratch(line(1, "100", R"(,"event_trace_sn":{"coll_sn":99,"kernel_events":[{"channel_id":0}]})") + "\n\n" + send +
                            "\r\n" + line(2));
  const InspectorFile file = read_inspector(scratch.path);
  REQUIRE(file.series.size() == 2);
  CHECK(file.series[0].name == "tp");
  CHECK(file.series[0].calls.size() == 2);
  CHECK(file.series[0].calls[0].sequence == 1);  // not that of a part inside
  CHECK(file.series[1].point_to_point);
  CHECK(file.series[1].calls[0].time_us == 2.5);
  CHECK(file.series[1].source == TimingSource::kCpuKernel);
  CHECK(file.lines_damaged == 0);
}

TEST_CASE("inspector: lines that are cut or lack a part are counted, and the others are read") {
  const std::string whole = line(1);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    INFO(size);
    const ScratchFile scratch(whole + "\n" + whole.substr(0, size));
    const InspectorFile file = read_inspector(scratch.path);
    REQUIRE(file.series.size() == 1);
    CHECK(file.series[0].calls.size() == 1);
    CHECK(file.lines_damaged == 1);
  }
  const ScratchFile scratch(whole + "\n{}\n[]\n7\nx\n" + line(2, "-1") + "\n" + line(3, "\"x\"") + "\n" + line(-4) + "\n" + line(5));
  const InspectorFile file = read_inspector(scratch.path);
  CHECK(file.series[0].calls.size() == 2);
  CHECK(file.lines_damaged == 7);
}

TEST_CASE("inspector: a file larger than a piece is read as one") {
  std::string text;
  for (int i = 0; i < 9000; ++i) text += line(i) + "\n";
  REQUIRE(text.size() > 2u << 20);
  const ScratchFile scratch(text);
  const InspectorFile file = read_inspector(scratch.path);
  REQUIRE(file.series.size() == 1);
  REQUIRE(file.series[0].calls.size() == 9000);
  for (std::size_t i = 0; i < 9000; ++i) CHECK(file.series[0].calls[i].sequence == i);
}

TEST_CASE("inspector: files are known by their first line, and others are refused") {
  CHECK(is_inspector_file(FileHead(ScratchFile(line(1) + "\n").path)));
  for (const char* other : {"", "{}", R"({"header": 1})", "# HELP nccl_bus_bandwidth_gbs x\n", R"({"traceEvents": []})"}) {
    const ScratchFile scratch{std::string_view(other)};
    CHECK_FALSE(is_inspector_file(FileHead(scratch.path)));
    CHECK_THROWS_AS(read_inspector(scratch.path), Error);
  }
}
