#include "tests/catch.h"
#include "tests/unit/analysis/nsys_stats/stat_rows.h"
#include "tests/unit/analysis/trace_builder.h"

namespace {

using nl::test::stat_rows;
using RangeLines = std::vector<std::string>;

// On thread 1000 a range with two others inside that launch, one that does not and one that was never closed; on thread 1001
// two ranges with the same times, and one inside them.
TraceBuilder marked_capture() {
  TraceBuilder b;
  b.kernel("unlinked", 0, 7, nl::kNone);
  b.range("d", "outer", 0, 100);
  b.range("d", "inner", 10, 40);
  b.range("d", "empty", 41, 49);
  b.range("d", "inner", 50, 90);
  b.range("d", "open", 92, 1000, 0, nl::RangeStyle::kPushPop, true);
  b.range("d", "handed over", 10, 90).end_thread = 1;
  b.range("d", "twin one", 0, 50, 1);
  b.range("d", "twin two", 0, 50, 1);
  b.range("d", "below", 5, 20, 1);
  const auto graph = b.call(12);
  b.kernel("a", 100, 10, graph);
  b.kernel("a", 105, 25, graph);
  b.copy(nl::MemOpKind::kHostToDevice, 140, 150, b.call(20));
  const auto both = b.call(60);
  b.kernel("b", 300, 20, both);
  b.copy(nl::MemOpKind::kDeviceToDevice, 290, 295, both);
  b.kernel("a", 400, 10, b.call(95));
  b.kernel("after all", 450, 10, b.call(200));
  b.kernel("c", 500, 5, b.call(10, 1));
  return b;
}

}  // namespace

TEST_CASE("ranges as the GPU saw them: from the first start to the last end of what they launched") {
  const auto table = nl::analysis::make_stats_report(marked_capture().trace, "nvtx_gpu_proj_sum");
  CHECK(table.columns == RangeLines{"Range", "Style", "Total Proj Time (ns)", "Total Range Time (ns)", "Range Instances", "Proj Avg (ns)",
                                    "Proj Med (ns)", "Proj Min (ns)", "Proj Max (ns)", "Proj StdDev (ns)", "Total GPU Ops", "Avg GPU Ops",
                                    "Avg Range Lvl", "Avg Num Child"});
  // A graph's kernels are one operation, as are a kernel and a copy of one call. Of two ranges with the same times each is
  // inside the other: they and those below have no level.
  CHECK(stat_rows(marked_capture().trace, "nvtx_gpu_proj_sum") ==
        RangeLines{"d:outer PushPop 310 100 1 310.0 310.0 310 310 0.0 4 4.0 0.0 3.0",
                   "d:inner PushPop 80 70 2 40.0 40.0 30 50 14.1 3 1.5 1.0 0.0", "d:open PushPop 10 8 1 10.0 10.0 10 10 0.0 1 1.0 1.0 0.0",
                   "d:below PushPop 5 15 1 5.0 5.0 5 5 0.0 1 1.0 - 0.0", "d:twin one PushPop 5 50 1 5.0 5.0 5 5 0.0 1 1.0 - 2.0",
                   "d:twin two PushPop 5 50 1 5.0 5.0 5 5 0.0 1 1.0 - 1.0"});
}

TEST_CASE("kernels by the ranges that launched them, and those that none encloses") {
  const auto table = nl::analysis::make_stats_report(marked_capture().trace, "nvtx_kern_sum");
  CHECK(table.columns == RangeLines{"NVTX Range", "Style", "PID", "TID", "NVTX Inst", "Kern Inst", "Total Time (ns)", "Avg (ns)",
                                    "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)", "Kernel Name"});
  CHECK(stat_rows(marked_capture().trace, "nvtx_kern_sum") ==
        RangeLines{"- - - - 0 1 7 7.0 7.0 7 7 0.0 unlinked", "- - 100 1000 0 1 10 10.0 10.0 10 10 0.0 after all",
                   "d:below PushPop 100 1001 1 1 5 5.0 5.0 5 5 0.0 c", "d:inner PushPop 100 1000 1 2 35 17.5 17.5 10 25 10.6 a",
                   "d:inner PushPop 100 1000 1 1 20 20.0 20.0 20 20 0.0 b", "d:open PushPop 100 1000 1 1 10 10.0 10.0 10 10 0.0 a",
                   "d:outer PushPop 100 1000 1 3 45 15.0 10.0 10 25 8.7 a", "d:outer PushPop 100 1000 1 1 20 20.0 20.0 20 20 0.0 b",
                   "d:twin one PushPop 100 1001 1 1 5 5.0 5.0 5 5 0.0 c", "d:twin two PushPop 100 1001 1 1 5 5.0 5.0 5 5 0.0 c"});
}

TEST_CASE("a kernel in two ranges of one name counts its time in each and itself once") {
  TraceBuilder b;
  b.range("d", "same", 0, 100);
  b.range("d", "same", 10, 90);
  b.range("d", "same", 0, 100, 0, nl::RangeStyle::kStartEnd);
  b.kernel("k", 500, 30, b.call(20));
  b.kernel("late", 600, 40, b.call(89));  // the call outlives the inner range
  CHECK(stat_rows(b.trace, "nvtx_kern_sum") ==
        RangeLines{"d:same PushPop 100 1000 2 1 60 30.0 30.0 30 30 0.0 k", "d:same PushPop 100 1000 1 1 40 40.0 40.0 40 40 0.0 late",
                   "d:same StartEnd 100 1000 1 1 40 40.0 40.0 40 40 0.0 late", "d:same StartEnd 100 1000 1 1 30 30.0 30.0 30 30 0.0 k"});
}

TEST_CASE("ranges of one name need not follow each other, and mean and median are told apart") {
  TraceBuilder b;
  nl::Ns at = 0;
  for (const std::uint64_t duration : {10, 20, 60}) {
    b.range("d", "x", at, at + 10);
    b.range("d", "y", at + 20, at + 30);
    b.kernel("k", 1000 + 10 * at, duration, b.call(at + 5));
    b.kernel("k", 5000 + 10 * at, 7, b.call(at + 25));
    at += 100;
  }
  CHECK(stat_rows(b.trace, "nvtx_kern_sum") ==
        RangeLines{"d:x PushPop 100 1000 3 3 90 30.0 20.0 10 60 26.5 k", "d:y PushPop 100 1000 3 3 21 7.0 7.0 7 7 0.0 k"});
  CHECK(stat_rows(b.trace, "nvtx_gpu_proj_sum") ==
        RangeLines{"d:x PushPop 90 30 3 30.0 20.0 10 60 26.5 3 1.0 0.0 0.0", "d:y PushPop 21 30 3 7.0 7.0 7 7 0.0 3 1.0 0.0 0.0"});
  b.trace.api_stats.push_back({b.trace.strings.intern("cudaMalloc"), {}});
  for (const nl::Ns ns : {10, 20, 60}) b.trace.api_stats[0].durations.add(ns);
  CHECK(stat_rows(b.trace, "cuda_api_sum") == RangeLines{"100.0 90 3 30.0 20.0 10 60 26.5 cudaMalloc"});
}
