#include "tests/catch.h"
#include "tests/unit/analysis/nsys_stats/stat_rows.h"
#include "tests/unit/analysis/trace_builder.h"

namespace {

using nl::test::stat_rows;
using Lines = std::vector<std::string>;

TraceBuilder small_capture() {
  TraceBuilder b;
  b.kernel("a", 10, 10, b.call(5));
  b.kernel("b", 100, 20, b.call(90));
  b.kernel("a", 200, 30, b.call(190));
  b.kernel("c", 300, 40, b.call(290));
  b.copy(nl::MemOpKind::kHostToDevice, 0, 30, nl::kNone).label = b.trace.strings.intern("up").value;
  b.copy(nl::MemOpKind::kDeviceToHost, 0, 60, nl::kNone).label = b.trace.strings.intern("down").value;
  b.copy(nl::MemOpKind::kHostToDevice, 0, 10, nl::kNone).label = b.trace.strings.intern("up").value;
  b.copy(nl::MemOpKind::kOther, 0, 999, nl::kNone).label = 0;
  return b;
}

}  // namespace

TEST_CASE("sums of kernels: longest total first, of equal ones the rarer and then the name") {
  const auto b = small_capture();
  CHECK(stat_rows(b.trace, "cuda_gpu_kern_sum") ==
        Lines{"40.0 40 1 40.0 40.0 40 40 0.0 c", "40.0 40 2 20.0 20.0 10 30 14.1 a", "20.0 20 1 20.0 20.0 20 20 0.0 b"});
}

TEST_CASE("sums of copies: by what the tool calls them; what has no name is left out") {
  const auto b = small_capture();
  CHECK(stat_rows(b.trace, "cuda_gpu_mem_time_sum") == Lines{"60.0 60 1 60.0 60.0 60 60 0.0 down", "40.0 40 2 20.0 20.0 10 30 14.1 up"});
}

TEST_CASE("sums of ranges: by domain, name and style, and an open one ends with the last annotation") {
  TraceBuilder b;
  b.range("d", "r", 0, 10);
  b.range("", "r", 0, 30);
  b.range("d", "r", 0, 20, 0, nl::RangeStyle::kStartEnd);
  b.range("d", "r", 50, 1000, 0, nl::RangeStyle::kPushPop, true);
  b.trace.last_range_event_ns = 80;
  CHECK(stat_rows(b.trace, "nvtx_sum") == Lines{"44.4 40 2 20.0 20.0 10 30 14.1 PushPop d:r", "33.3 30 1 30.0 30.0 30 30 0.0 PushPop :r",
                                                "22.2 20 1 20.0 20.0 20 20 0.0 StartEnd d:r"});
  b.trace.last_range_event_ns.reset();
  CHECK(stat_rows(b.trace, "nvtx_sum").front() == "95.0 960 2 480.0 480.0 10 950 664.7 PushPop d:r");
}

TEST_CASE("sums of calls: as they were counted") {
  TraceBuilder b;
  nl::ApiStat stat;
  stat.name = b.trace.strings.intern("cudaMalloc");
  for (const nl::Ns ns : {5, 15}) stat.durations.add(ns);
  b.trace.api_stats.push_back(stat);
  stat.name = b.trace.strings.intern("cudaFree");
  b.trace.api_stats.push_back(stat);
  CHECK(stat_rows(b.trace, "cuda_api_sum") == Lines{"50.0 20 2 10.0 10.0 5 15 7.1 cudaMalloc", "50.0 20 2 10.0 10.0 5 15 7.1 cudaFree"});
}

TEST_CASE("the columns of the sums, as nsys calls them") {
  const auto b = small_capture();
  const std::pair<const char*, Lines> ends[] = {{"cuda_gpu_kern_sum", {"Instances", "Name"}},
                                                {"cuda_gpu_mem_time_sum", {"Count", "Operation"}}};
  for (const auto& [report, names] : ends)
    CHECK(nl::analysis::make_stats_report(b.trace, report).columns ==
          Lines{"Time (%)", "Total Time (ns)", names[0], "Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)", names[1]});
  TraceBuilder ranges;
  ranges.range("d", "r", 0, 10);
  ranges.trace.api_stats.emplace_back().durations.add(5);
  CHECK(nl::analysis::make_stats_report(ranges.trace, "cuda_api_sum").columns.at(2) == "Num Calls");
  CHECK(nl::analysis::make_stats_report(ranges.trace, "cuda_api_sum").title == "CUDA API Summary");
  const auto sums = nl::analysis::make_stats_report(ranges.trace, "nvtx_sum").columns;
  CHECK(Lines(sums.end() - 2, sums.end()) == Lines{"Style", "Range"});
}
