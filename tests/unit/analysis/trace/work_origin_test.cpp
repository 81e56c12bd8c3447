#include "analysis/trace/work_origin.h"

#include "tests/catch.h"
#include "tests/unit/analysis/small_trace.h"

using namespace nl;
using namespace nl::analysis;
using nl::test::SmallTrace;

TEST_CASE("work belongs to its launch, a node of a graph to where it was made") {
  SmallTrace small(2);
  const std::uint32_t launch = small.call(500, 510);
  small.kernel(launch, 5);
  small.kernel(launch, 5);
  small.kernel(kNone, 5);
  small.copy(launch, 5, "copy");
  small.trace.graph_nodes = {{1, 40}};
  CHECK(origin_of_kernel(small.trace, 1) == WorkOrigin{0, 500, 510});  // no row has a node
  small.trace.kernel_nodes = {kNone, 0, kNone};
  CHECK(origin_of_kernel(small.trace, 0) == WorkOrigin{0, 500, 510});
  CHECK(origin_of_kernel(small.trace, 1) == WorkOrigin{1, 40, 40});
  CHECK(launch_of(small.trace, small.trace.kernels[1].api) == WorkOrigin{0, 500, 510});
  CHECK(origin_of_kernel(small.trace, 2).thread == kNone);  // neither is known
  CHECK(origin_of_mem_op(small.trace, 0) == WorkOrigin{0, 500, 510});
  small.trace.mem_op_nodes = {0};
  CHECK(origin_of_mem_op(small.trace, 0) == WorkOrigin{1, 40, 40});
}
