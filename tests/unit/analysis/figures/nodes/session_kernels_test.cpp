#include "analysis/figures/nodes/operator_figures.h"

#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"

using namespace nl;

namespace {

OperatorStep step_from(const char* source, std::vector<const char*> names, bool traced) {
  OperatorStep step;
  step.stage = "inference";
  step.source = source;
  for (const char* name : names) {
    OperatorCall& call = step.calls.emplace_back();
    call.index = static_cast<std::uint32_t>(step.calls.size() - 1);
    call.name = name;
    call.host_ns = 100;
    if (!traced) continue;
    call.gpu_ns = 10 * (call.index + 1);
    call.kernels = {{"kernel", 1, *call.gpu_ns}};
  }
  return step;
}

Run run_of(std::vector<OperatorStep> steps) {
  Run run;
  run.session.emplace().backend = "libtorch";
  run.operator_steps = std::move(steps);
  return run;
}

}  // namespace

TEST_CASE("session kernels: what the trace knows of a call belongs to its node") {
  Run run = run_of({step_from("pytorch ranges", {"aten::mm", "aten::add"}, true), step_from("libtorch", {"aten::mm", "aten::add"}, false)});
  run.operator_steps[0].gpu_outside_ns = 3;
  analysis::add_kernels_to_nodes(run);
  REQUIRE(run.operator_steps.size() == 1);
  const OperatorStep& nodes = run.operator_steps[0];
  CHECK(nodes.source == "libtorch");
  CHECK(nodes.calls[0].gpu_ns == 10);
  CHECK(nodes.calls[1].gpu_ns == 20);
  CHECK(nodes.calls[1].kernels.at(0).total_ns == 20);
  CHECK(nodes.calls[1].host_ns == 100);
  CHECK(nodes.gpu_outside_ns == 3);
}

TEST_CASE("session kernels: operators that the trace has with GPU times are not summed up a second time without") {
  for (const bool same : {true, false}) {
    Run run = run_of({step_from("pytorch ranges", {"aten::mm"}, true), step_from("libtorch", {same ? "aten::mm" : "aten::add"}, false)});
    run.operators.resize(2);
    run.operators[0].source = "pytorch ranges";
    run.operators[0].cuda_ns = 10;
    run.operators[1].source = "libtorch";
    analysis::add_kernels_to_nodes(run);
    CHECK(run.operators.size() == (same ? 1u : 2u));
    CHECK(run.operators[0].source == "pytorch ranges");
  }
}

TEST_CASE("session kernels: other calls, another stage or no GPU give nothing") {
  Run other =
      run_of({step_from("pytorch ranges", {"aten::mm", "aten::mul"}, true), step_from("libtorch", {"aten::mm", "aten::add"}, false)});
  Run fewer = run_of({step_from("pytorch ranges", {"aten::mm"}, true), step_from("libtorch", {"aten::mm", "aten::add"}, false)});
  Run host = run_of({step_from("pytorch ranges", {"aten::mm"}, false), step_from("libtorch", {"aten::mm"}, false)});
  Run stage = run_of({step_from("pytorch ranges", {"aten::mm"}, true), step_from("libtorch", {"aten::mm"}, false)});
  stage.operator_steps[0].stage = "prefill";
  Run deeper = run_of({step_from("pytorch ranges", {"aten::mm"}, true), step_from("libtorch", {"aten::mm"}, false)});
  deeper.operator_steps[0].calls[0].depth = 1;
  for (Run* run : {&other, &fewer, &host, &stage, &deeper}) {
    analysis::add_kernels_to_nodes(*run);
    CHECK_FALSE(run->operator_steps[1].calls[0].gpu_ns);
    CHECK(run->operator_steps[1].calls[0].kernels.empty());
  }
}
