#include "analysis/figures/nodes/session_figures.h"

#include "tests/catch.h"

using namespace nl;

namespace {

ModelSession session_of_operators() {
  ModelSession session;
  session.backend = "onnxruntime";
  session.unprofiled_ns = {100, 120, 110};
  session.profiled_ns = {130, 110, 121};
  session.nodes = {{"a", "MatMul", "", "", "", 0, {}}, {"b", "If", "", "", "", 0, {}}, {"b/inside", "Add", "", "", "", 1, {}}};
  for (std::uint32_t n = 0; n < 3; ++n) {
    session.runs.push_back({n, 0, 0, 60 + n, {}});
    session.runs.push_back({n, 1, 0, 40, {}});
    session.runs.push_back({n, 2, 0, 30, {}});  // part of b
  }
  return session;
}

}  // namespace

TEST_CASE("session figures: medians, and the sum of what no other operator called") {
  const SessionEntry entry = analysis::session_figures(session_of_operators());
  CHECK(entry.unprofiled.median_ns == 110);
  CHECK(entry.profiled.median_ns == 121);
  CHECK(entry.slowdown == Approx(0.1));
  CHECK(entry.operators_ns == 101);  // 61 and 40
  CHECK(entry.operators_share == Approx(101.0 / 110));
}

TEST_CASE("session figures: a backend that measures on the device") {
  ModelSession session = session_of_operators();
  session.host_times_known = false;
  for (NodeRun& run : session.runs) run.gpu_ns = 5;
  CHECK(analysis::session_figures(session).operators_ns == 10);
}

TEST_CASE("session figures: without operators or iterations nothing is made up") {
  ModelSession session = session_of_operators();
  session.runs.clear();
  SessionEntry entry = analysis::session_figures(session);
  CHECK_FALSE(entry.operators_ns);
  CHECK_FALSE(entry.operators_share);
  session.unprofiled_ns.clear();
  entry = analysis::session_figures(session);
  CHECK_FALSE(entry.slowdown);
  CHECK(entry.unprofiled.count == 0);
}
