#include "model/trace.h"

#include "model/counters.h"
#include "model/perturbation.h"
#include "model/rule.h"
#include "model/run.h"
#include "tests/catch.h"

using namespace nl;

TEST_CASE("rows of a trace refer to nothing until they are told to what") {
  CHECK(kNone == 4'294'967'295);
  CHECK(Thread{}.process == kNone);
  CHECK(Queue{}.process == kNone);
  CHECK((Kernel{}.shape == kNone && Kernel{}.api == kNone));
  CHECK((Kernel{}.queue == 0 && Kernel{}.duration_ns == 0 && !Kernel{}.in_graph));
  CHECK((MemOp{}.queue == kNone && MemOp{}.api == kNone));
  CHECK((GraphRun{}.queue == kNone && GraphRun{}.api == kNone));
  CHECK((ApiCall{}.thread == 0 && ApiCall{}.duration_ns == 0));
  CHECK((Range{}.thread == kNone && Range{}.end_thread == kNone && !Range{}.open));
  CHECK(Mark{}.thread == kNone);
  CHECK(Dim3{} == Dim3{1, 1, 1});  // a launch has at least one of each
}

TEST_CASE("a trace has recorded nothing until an importer says so, and its stages are marked") {
  const Trace trace;
  CHECK_FALSE(trace.has_kernel_data);
  CHECK_FALSE(trace.has_api_data);
  CHECK_FALSE(trace.has_range_data);
  CHECK_FALSE(trace.has_mem_data);
  CHECK(trace.duration_ns == 0);
  CHECK(trace.stage_origin.source == StageSource::kMarked);
  CHECK(trace.stage_origin.confidence == 1);
  CHECK(trace.stats.source_format == SourceFormat::kNone);
}

TEST_CASE("kinds that nobody named are the ones without a meaning") {
  CHECK(MemOp{}.kind == MemOpKind::kOther);
  CHECK(SyncWait{}.kind == SyncKind::kUnknown);
  CHECK(Range{}.style == RangeStyle::kPushPop);
  CHECK(Communication{}.kind == Collective::kOther);
  CHECK(StageEntry{}.source == StageSource::kMarked);
  CHECK(StageEntry{}.confidence == 1);
  CHECK(Finding{}.severity == Severity::kInfo);
  CHECK(Problem{}.code == Code::kError);
  CHECK(Problem{}.kind == ErrorKind::kCapture);
  CHECK(Run{}.status == RunStatus::kComplete);
  CHECK(PassRecord{}.outcome == PassOutcome::kFailed);  // until it has ended well
  CHECK(WindowCounters{}.windows == 1);
  CHECK(TimelineSlice{}.merged == 1);
  CHECK((FindingEvidence{}.held && FindingEvidence{}.known));
  CHECK(OperatorEntry{}.host_time_known);
}

TEST_CASE("a kernel is known by its mangled name, where it has one") {
  KernelEntry kernel;
  kernel.name = "gemm";
  CHECK(kernel.symbol() == "gemm");
  kernel.mangled_name = "_Z4gemm";
  CHECK(kernel.symbol() == "_Z4gemm");
}
