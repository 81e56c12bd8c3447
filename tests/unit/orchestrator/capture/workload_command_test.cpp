#include "orchestrator/capture/plan_parts.h"

#include <algorithm>
#include <set>

#include "orchestrator/capture/plan.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/capture/pass_words.h"

using namespace nl;
using namespace nl::orchestrator;
using Strings = std::vector<std::string>;

namespace {

WorkloadOptions hydra_program(Strings command, std::string chdir = "keep") {
  WorkloadOptions workload;
  workload.command = std::move(command);
  workload.hydra = true;
  workload.hydra_chdir = std::move(chdir);
  return workload;
}

Strings overrides_of(const WorkloadOptions& workload, const std::filesystem::path& bundle = "/b") {
  const Strings command = workload_command(workload, bundle, PassKind::kNsys);
  return Strings(command.begin() + static_cast<std::ptrdiff_t>(workload.command.size()), command.end());
}

// The folders that the passes of the workload are given, in order.
Strings hydra_folders(const Plan& plan) {
  Strings folders;
  for (const Pass& pass : plan.passes) {
    if (!pass.process.forward_output) continue;  // an export
    const std::string last = pass.process.argv.back(), key = "hydra.run.dir=/b/hydra/";
    INFO(key_of(pass.kind));
    CHECK(last.starts_with(key));
    folders.push_back(last.substr(std::min(last.size(), key.size())));
  }
  return folders;
}

}  // namespace

TEST_CASE("workload command: as it is where it is no Hydra program") {
  WorkloadOptions workload;
  workload.command = {"python", "x.py"};
  CHECK(workload_command(workload, "/b", PassKind::kNsys) == Strings{"python", "x.py"});
}

TEST_CASE("workload command: every pass of a Hydra program has a folder of its own") {
  Config config = test::config_for({"python", "x.py"});
  config.workload.hydra = true;
  config.perturbation.repeats = 2;
  const Strings by_nsys = hydra_folders(make_plan(config, nl::test::all_tools(), "/b"));
  CHECK(std::set<std::string>(by_nsys.begin(), by_nsys.end()).size() == by_nsys.size());
  for (const char* name : {"unprofiled-1", "nsys", "unprofiled-2", "nsys-repeat-2", "ncu"})
    CHECK(std::count(by_nsys.begin(), by_nsys.end(), name) == 1);
  config.capture.prefer = config.capture.counters = "cupti";
  const Strings by_cupti = hydra_folders(make_plan(config, nl::test::all_tools(), "/b"));
  CHECK(std::set<std::string>(by_cupti.begin(), by_cupti.end()).size() == by_cupti.size());
  for (const char* name : {"unprofiled-1", "collector", "unprofiled-2", "collector-repeat-2", "counters-stages", "counters-kernels"})
    CHECK(std::count(by_cupti.begin(), by_cupti.end(), name) == 1);
}

TEST_CASE("workload command: a second attempt at a pass has another folder") {
  Config config = test::config_for({"x"});
  config.workload.hydra = true;
  NcuRequest again;
  again.attempt = 2;
  std::vector<Remark> adaptations;
  CHECK(plan_ncu(config, nl::test::all_tools(), "/b", &again, adaptations).process.argv.back() == "hydra.run.dir=/b/hydra/ncu-2");
  CHECK(plan_kernel_counters(config, nl::test::all_tools(), "/b", {.attempt = 2}).process.argv.back() ==
        "hydra.run.dir=/b/hydra/counters-kernels-2");
}

TEST_CASE("workload command: hydra.job.chdir is as asked, and the program's own wins") {
  CHECK(overrides_of(hydra_program({"x"})) == Strings{"hydra.run.dir=/b/hydra/nsys"});
  CHECK(overrides_of(hydra_program({"x"}, "false")) == Strings{"hydra.run.dir=/b/hydra/nsys", "hydra.job.chdir=false"});
  CHECK(overrides_of(hydra_program({"x"}, "true")) == Strings{"hydra.run.dir=/b/hydra/nsys", "hydra.job.chdir=true"});
  for (const char* own : {"hydra.job.chdir=True", "++hydra.job.chdir=True"})
    CHECK(overrides_of(hydra_program({"x", own}, "false")) == Strings{"hydra.run.dir=/b/hydra/nsys"});
  CHECK(overrides_of(hydra_program({"x", "hydra.job.chdirs=1"}, "false")).size() == 2);
}

TEST_CASE("workload command: a sweep has its folder too, and a path is quoted by Hydra's grammar") {
  for (const char* many : {"-m", "--multirun", "hydra.mode=MULTIRUN"})
    CHECK(overrides_of(hydra_program({"x", many})) == Strings{"hydra.run.dir=/b/hydra/nsys", "hydra.sweep.dir=/b/hydra/nsys"});
  CHECK(overrides_of(hydra_program({"x"}), "/my runs/a=1,b's") == Strings{"hydra.run.dir='/my runs/a=1,b\\'s/hydra/nsys'"});
}
