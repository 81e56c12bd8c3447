#include "analysis/runs/compare/compare.h"

#include "tests/catch.h"

using namespace nl;

TEST_CASE("compare: the verdict is of the unprofiled runs, the cause of the profiled ones") {
  Comparison times, cause;
  times.verdict = CompareVerdict::kImproved;
  times.main_stage = "decode_step";
  times.energy.missing = LineReason::kNotCaptured;
  times.waterfall = Waterfall{"command", 1, 1, {}};
  cause.verdict = CompareVerdict::kUnchanged;
  cause.waterfall = Waterfall{"decode_step", 20, 10, {}};
  cause.kernels = {StageKernels{"decode_step", true, {}, {}, 1, 1}};
  cause.energy.lines.resize(1);
  const Comparison both = analysis::with_cause(times, cause);
  CHECK(both.verdict == CompareVerdict::kImproved);
  CHECK(both.waterfall->a_ns == 20);
  CHECK(both.kernels.size() == 1);
  CHECK(both.energy.lines.size() == 1);
}
