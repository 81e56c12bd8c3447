#include <cstdlib>
#include <string>
#include <vector>

#include "analysis/staging/found/sources.h"
#include "tests/unit/analysis/staging/found/made_generation.h"

using nl::analysis::FoundStages;
using nl::analysis::infer_stages;

// Programs without a model, as they are written with CUDA or cupy: their steps are counted within one, or not at all.
namespace {

// Steps of a simulation, as a thread launches them.
struct MadeSimulation {
  MadeGeneration made;
  int steps = 0;

  void kernels(const std::vector<std::string>& names, std::uint64_t duration = 40) {
    for (const std::string& name : names) made.launch(name, 64, duration);
  }
  void initialise() {
    kernels({"fill_field", "fill_field", "set_boundary"});
    made.wait();
  }
  void begin() {
    made.now += 15;
    ++steps;
  }
  void output() {
    kernels({"reduce_energy", "pack_output"});
    made.to_host();
  }
};

// The steps that were found; none where nothing is claimed. Neither tokens nor training.
void check_counted(const MadeSimulation& program, bool must_count) {
  const FoundStages found = infer_stages(program.made.builder.trace);
  for (const auto& stage : found.stages) CHECK(stage.name == "step");
  INFO(found.stages.size() << " of " << program.steps);
  if (found.stages.empty()) {
    CHECK_FALSE(must_count);
    return;
  }
  CHECK(std::llabs(static_cast<long long>(found.stages.size()) - program.steps) <= 1);
}

const std::vector<std::string> kStencil = {"apply_boundary", "stencil", "update", "swap_halo"};

}  // namespace

TEST_CASE("simulation: several kernels in each step") {
  MadeSimulation program;
  program.initialise();
  SECTION("launched ahead, one wait at the end") {
    for (int i = 0; i < 50; ++i) {
      program.begin();
      program.kernels(kStencil);
    }
    program.made.wait();
  }
  SECTION("with a wait in each") {
    for (int i = 0; i < 50; ++i) {
      program.begin();
      program.kernels(kStencil);
      program.made.wait();
    }
  }
  SECTION("and the host's own work between them") {
    for (int i = 0; i < 50; ++i) {
      program.begin();
      program.kernels(kStencil);
      program.made.to_host();
      program.made.now += 400;
    }
  }
  SECTION("two kernels") {
    for (int i = 0; i < 50; ++i) {
      program.begin();
      program.kernels({"stencil", "update"});
    }
    program.made.wait();
  }
  check_counted(program, true);
}

TEST_CASE("simulation: one kernel in each step") {
  MadeSimulation program;
  program.initialise();
  for (int i = 0; i < 50; ++i) {
    program.begin();
    program.kernels({"stencil"});
  }
  program.made.wait();
  check_counted(program, false);
}

TEST_CASE("simulation: every tenth step writes its output") {
  MadeSimulation program;
  program.initialise();
  const int steps = GENERATE(50, 95, 200);
  const bool waits = GENERATE(false, true);
  const bool longer = GENERATE(false, true);  // than all kernels of the step
  for (int i = 0; i < steps; ++i) {
    program.begin();
    program.kernels(kStencil);
    if (waits) program.made.wait();
    if (i % 10 != 9) continue;
    if (longer) program.kernels({"reduce_energy", "reduce_momentum", "histogram", "histogram_merge", "pack_output"});
    program.output();
  }
  program.made.wait();
  INFO("waits " << waits << ", longer " << longer);
  check_counted(program, steps != 200);  // 20 times the same: a step may also have ten iterations
}

TEST_CASE("simulation: iterations of a solver in each step, and nothing is read back") {
  MadeSimulation program;
  program.initialise();
  for (int i = 0; i < 30; ++i) {
    program.begin();
    program.kernels({"advect", "divergence"});
    for (int j = 0; j < 20; ++j) program.kernels({"jacobi", "jacobi_edges"});
    program.kernels({"project"});
  }
  program.made.wait();
  check_counted(program, true);
}

TEST_CASE("simulation: two phases that take turns") {
  MadeSimulation program;
  program.initialise();
  SECTION("in each step") {
    for (int i = 0; i < 40; ++i) {
      program.begin();
      program.kernels({"collide", "collide_walls", "exchange"});
      program.made.wait();
      program.kernels({"stream", "stream_edges", "exchange"});
      program.made.wait();
    }
  }
  SECTION("the same kernels with the buffers exchanged") {
    for (int i = 0; i < 40; ++i) {
      program.begin();
      program.kernels({"half_step<0>", "half_step<1>"});
    }
    program.made.wait();
  }
  SECTION("a sub-step that repeats inside") {
    for (int i = 0; i < 40; ++i) {
      program.begin();
      for (int j = 0; j < 4; ++j) program.kernels({"smooth", "residual"});
      program.kernels({"restrict", "correct"});
      program.made.to_host();
    }
  }
  check_counted(program, true);
}

TEST_CASE("simulation: a step that does as much as it needs") {
  MadeSimulation program;
  program.initialise();
  std::mt19937 dice(7);
  for (int i = 0; i < 60; ++i) {
    program.begin();
    program.kernels({"assemble"});
    for (int j = 0, most = 2 + static_cast<int>(dice() % 9); j < most; ++j) {
      program.kernels({"precondition", "multiply", "dot", "axpy"});
      program.made.to_host();
    }
    program.kernels({"advance", "limit"});
  }
  program.made.wait();
  // Neither the step nor the iterations of its solver are a lie; any other count would be.
  const FoundStages found = infer_stages(program.made.builder.trace);
  std::size_t solver = 0;
  for (const auto& kernel : program.made.builder.trace.kernels)
    solver += program.made.builder.trace.strings[program.made.builder.trace.shapes[kernel.shape].name] == "axpy";
  const auto off = [&](std::size_t truth) {
    return std::llabs(static_cast<long long>(found.stages.size()) - static_cast<long long>(truth));
  };
  INFO(found.stages.size() << " of 60 or " << solver);
  CHECK((found.stages.empty() || off(60) <= 1 || off(solver) <= 1));
}
